package pump_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// wantUnknown checks that a handle is none of the caller's at the backend, whatever it
// is used for, and that nobody is asked or told anything for it.
func (p *process) wantUnknown(what, backend string, caller port.Caller, handle string) {
	p.w.Helper()
	p.w.backend.was()
	ctx := p.w.Context()
	_, got := p.Get(ctx, backend, caller, handle)
	_, updated := p.Update(ctx, backend, caller, handle, nil)
	_, cancelled := p.Cancel(ctx, backend, caller, handle)
	for _, err := range []error{got, updated, cancelled, p.Verify(backend, caller, handle)} {
		if !errors.Is(err, pump.ErrUnknown) {
			p.w.Errorf("%s: %v, want an unknown task", what, err)
		}
	}
	p.Watch(ctx, backend, caller, handle, "1", func([]byte) bool { p.w.Errorf("%s: told of", what); return true })
	p.w.wantAsked()
}

func (w *world) newKeys(secrets ...string) *seal.Keys {
	w.Helper()
	var all [][]byte
	for _, s := range secrets {
		all = append(all, []byte(strings.Repeat(s, seal.SecretSize)))
	}
	keys, err := seal.New(all, env.System().Random())
	if err != nil {
		w.Fatal(err)
	}
	return keys
}

// TestHandles: a handle is its owner's at its backend, and everything else is unknown,
// without a difference (§4.23, S-2).
func TestHandles(t *testing.T) {
	t.Parallel()
	t.Run("§4.23 G-5 forged, foreign, of another backend or another face", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, hosted := w.made("t1"), w.hosts(hour)
			other, err := w.keys.Seal("task handle of its own era, modern face", []byte("x"))
			if err != nil {
				w.Fatal(err)
			}
			short, err := w.keys.Seal("task handle, modern face", []byte("x"))
			if err != nil {
				w.Fatal(err)
			}
			for _, handle := range []string{h, hosted.handle} {
				if strings.Trim(handle, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" || strings.Contains(handle, home.ID) {
					w.Errorf("handle %q", handle)
				}
				w.wantUnknown("another's", backendName, bob, handle)
				w.wantUnknown("nobody's", backendName, anon, handle)
				w.wantUnknown("another backend's", "granite", alice, handle)
				w.wantUnknown("cut", backendName, alice, handle[:len(handle)-1])
				w.wantUnknown("grown", backendName, alice, handle+"A")
				w.wantUnknown("bent", backendName, alice, handle[:30]+"AAAA"+handle[34:])
			}
			for _, forged := range []string{"", "t1", "zzz", strings.Repeat("A", 4000), other, short} {
				w.wantUnknown("forged", backendName, alice, forged)
			}
			hosted.Finish(`{}`, nil)
		})
	})
	t.Run("§4.23 of somebody without a name: whoever has it", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, h := w.adopts(anon, w.job("t1"))
			w.getAs(port.Caller{Authorization: "Bearer other", Capabilities: all}, h)
			w.wantUnknown("somebody's", backendName, alice, h)
		})
	})
	t.Run("§4.23 keys that were replaced, and that are gone", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.keys = w.newKeys("a")
			w.crash()
			h := w.made("t1")
			w.keys = w.newKeys("b", "a")
			w.crash()
			w.wantGet(h, port.TaskWorking)
			w.keys = w.newKeys("b")
			w.crash()
			w.wantUnknown("rotated out", backendName, alice, h)
		})
	})
}

// TestHandlesElsewhere: what is in a handle is enough to go on, or on record (§4.23).
func TestHandlesElsewhere(t *testing.T) {
	t.Parallel()
	t.Run("§4.23 any process can go on with it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.made("t1"), w.replica()
			if err := other.Verify(backendName, alice, h); err != nil {
				w.Error(err)
			}
			other.wantGet(h, port.TaskWorking)
			w.wantAsked("get t1")
			other.cancels(h)
			w.wantGet(h, port.TaskCancelled)
		})
	})
	t.Run("§4.23 a name too long for a handle is kept", func(t *testing.T) {
		bubble(t, func(w *world) {
			long := strings.Repeat("ü", 2000)
			h := w.waited(long)
			if len(h) > 512 {
				w.Errorf("a handle of %d characters", len(h))
			}
			w.hands(long, ask("0", "elicit", "", "name?"))
			w.crash()
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.backend.was()
			w.answers(h, "elicitation-1={}")
			w.wantAsked(`answered 0 {"answer":{},"of":"` + long + `"}`)
			w.loseStore()
			w.wantCode(h, jsonrpc.CodeInvalidParams) // there it is nowhere else
		})
	})
	t.Run("§4.23 the id of a task is no way to another's", func(t *testing.T) {
		bubble(t, func(w *world) {
			made := w.job("t1")
			_, mine := w.adopts(alice, made)
			_, his := w.adopts(bob, made)
			w.wantUnknown("his", backendName, alice, his)
			w.wantUnknown("mine", backendName, bob, mine)
		})
	})
	t.Run("B-U1 a session is resumed as it was opened, by whoever asks", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.crash()
			w.mu.Lock()
			w.resumed = nil
			w.mu.Unlock()
			wantShown(w, w.getAs(mute, h), port.TaskWorking)
			if len(w.resumed) != 1 || w.resumed[0] != string(all) {
				w.Errorf("resumed with %q", w.resumed)
			}
		})
	})
}
