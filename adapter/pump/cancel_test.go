package pump_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestCancel: what comes of a cancellation is the backend's to say; that it was
// received is all that is acknowledged (§4.22).
func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("§4.22 the backend cancels", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.cancels(h)
			w.wantAsked("cancel t1")
			w.wantGet(h, port.TaskCancelled)
			w.backend.was()
			w.cancels(h)
			w.wantAsked()
			w.wantPinned(0)
		})
	})
	t.Run("§4.22 B-G7 PEERS cancelled, and completed all the same", func(t *testing.T) {
		bubble(t, func(w *world) {
			seen, unseen := w.made("t1"), w.made("t2")
			w.cancels(seen)
			w.wantGet(seen, port.TaskCancelled)
			w.cancels(unseen)
			for _, id := range []string{"t1", "t2"} {
				w.backend.now(id, port.TaskCompleted)
				w.backend.set(func(b *backend) { b.jobs[id].result = `{}` })
			}
			w.wantGet(seen, port.TaskCancelled)
			w.wantGet(unseen, port.TaskCompleted)
		})
	})
	t.Run("§4.22 over already, or gone", func(t *testing.T) {
		bubble(t, func(w *world) {
			over, gone := w.made("t1"), w.made("t2")
			w.backend.completes("t1")
			w.cancels(over)
			w.wantAsked("cancel t1", "get t1")
			w.wantGet(over, port.TaskCompleted)
			w.backend.set(func(b *backend) { delete(b.jobs, "t2") })
			out, err := w.Cancel(w.Context(), backendName, alice, gone)
			wantCode(w, out, err, jsonrpc.CodeInvalidParams)
			w.wantPinned(0)
		})
	})
	t.Run("§4.22 not reached, or refused for a reason: the client is told", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.fails("cancel", errOutage)
			out, err := w.Cancel(w.Context(), backendName, alice, h)
			wantCode(w, out, err, jsonrpc.CodeInternal)
			w.backend.fails("cancel", jsonrpc.NewError(-32050, "Not Now"))
			out, err = w.Cancel(w.Context(), backendName, alice, h)
			wantCode(w, out, err, -32050)
			w.wantGet(h, port.TaskWorking)
		})
	})
	t.Run("§1.7 the client leaves: it goes on", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			ctx, leave := context.WithCancel(w.Context())
			w.backend.does("cancel", func(ctx context.Context, _ string) (wire.Value, error) {
				leave()
				if ctx.Err() != nil {
					w.Error("given up")
				}
				return `{}`, nil
			})
			_, _ = w.Cancel(ctx, backendName, alice, h)
			w.wantAsked("cancel t1")
		})
	})
}

// TestCancelElsewhere: a process that resumes the session of a task knows what the one
// that opened it was told (§4.22; DESIGN.md §4, promise 5).
func TestCancelElsewhere(t *testing.T) {
	bubble(t, func(w *world) {
		w.backend.set(func(b *backend) { b.about = `{"cancel":false}` })
		h, other := w.waited("t1"), w.replica()
		w.hands("t1", ask("0", "elicit", "", "name?"))
		w.backend.was()
		w.backend.set(func(b *backend) { b.about = "" }) // nobody shakes hands again
		other.cancels(h)
		if got := w.backend.was(); !slices.Equal(got, []string{`answered 0 {"dismissed":true}`}) {
			w.Errorf("the backend was told %q", got)
		}
	})
}

// TestCancelUnable: a task is over when a backend that cannot cancel it has nothing to
// ask any more (§4.22).
func TestCancelUnable(t *testing.T) {
	t.Parallel()
	for name, unable := range map[string]func(b *backend){
		"says so": func(b *backend) { b.about = `{"cancel":false}` },
		"does not know the method": func(b *backend) {
			b.onCall["cancel"] = func(context.Context, string) (wire.Value, error) { return "", errMethod }
		},
	} {
		t.Run("§4.22 a backend that cannot, and "+name+": what is asked is refused, now and later", func(t *testing.T) {
			bubble(t, func(w *world) {
				h, other := w.waited("t1"), w.replica()
				w.hands("t1", ask("0", "elicit", "", "name?"))
				w.hands("t1", ask("1", "sample", "", "poem?"))
				w.backend.set(unable)
				other.cancels(h)
				w.wantGet(h, port.TaskWorking)
				w.hands("t1", ask("2", "elicit", "", "age?"))
				w.hands("t1", ask("3", "roots", "", "where?"))
				w.wantGet(h, port.TaskWorking)
				told := slices.DeleteFunc(w.backend.was(), func(s string) bool {
					return !strings.HasPrefix(s, "answered") && !strings.HasPrefix(s, "refused")
				})
				if want := []string{`answered 0 {"dismissed":true}`, "refused 1 -32603", `answered 2 {"dismissed":true}`, "refused 3 -32603"}; !slices.Equal(told, want) {
					w.Errorf("the backend was told %q, want %q", told, want)
				}
				w.answers(h, "elicitation-1={}")
				w.cancels(h)
				w.backend.completes("t1")
				w.wantGet(h, port.TaskCompleted)
			})
		})
	}
}
