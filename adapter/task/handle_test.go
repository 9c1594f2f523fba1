package task_test

import (
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/env"
)

func cmpSorted() cmp.Option {
	return cmpopts.SortSlices(func(a, b string) bool { return a < b })
}

var handleForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,512}$`)

func TestHandleForm(t *testing.T) {
	bubble(t, func(w *world) {
		var seen []string
		for _, backend := range []string{"b", strings.Repeat("b", 63), strings.Repeat("b", 115), strings.Repeat("b", 270)} {
			for _, id := range []string{"t", strings.Repeat("x", 159), strings.Repeat("x", 160), strings.Repeat("x", 161), strings.Repeat("x", 2000)} {
				q := call(0, w.seedOf(id))
				q.Backend = backend
				h := w.create(q).ID
				if !handleForm.MatchString(h) {
					w.Errorf("A-H1 backend of %d, id of %d characters: handle of %d: %s", len(backend), len(id), len(h), h)
				}
				if slices.Contains(seen, h) || strings.Contains(h, "xxxx") {
					w.Errorf("A-H1 handle %s says something", h)
				}
				seen = append(seen, h)
				out, err := w.Get(w.Context(), backend, alice, h)
				if err != nil || parseFace(w.T, out).Status != port.TaskWorking {
					w.Errorf("A-H1 id of %d characters: %s, %v", len(id), out, err)
				}
				if got := w.backend.gets[len(w.backend.gets)-1].id; got != id {
					w.Errorf("A-H1 asked for %q, want %q", got, id)
				}
			}
		}
	})
}

func TestHandlesThatAreNot(t *testing.T) {
	bubble(t, func(w *world) {
		own := w.proxied("t1")
		hosted := w.create(call(0, task.Ending{Result: someResult})).ID
		q := call(0, w.seedOf("t2"))
		q.Caller = bob
		foreign := w.create(q).ID
		q.Caller, q.Backend = alice, "b2"
		elsewhere := w.create(q).ID
		flipped := func(h string, at int) string {
			raw, err := base64.RawURLEncoding.DecodeString(h)
			if err != nil {
				w.Fatal(err)
			}
			raw[(at+len(raw))%len(raw)] ^= 1
			return base64.RawURLEncoding.EncodeToString(raw)
		}
		otherKeys, err := seal.New([][]byte{[]byte("another secret 123")}, env.System().Random())
		if err != nil {
			w.Fatal(err)
		}
		alien, err := otherKeys.Seal("task handle, legacy face", []byte("x"))
		if err != nil {
			w.Fatal(err)
		}
		odd, err := w.keys.Seal("task handle, legacy face", []byte("x"))
		if err != nil {
			w.Fatal(err)
		}
		w.proxied("t3")
		cursor := w.list("", false, 1).Next
		w.backend.set(func(b *backend) { b.gets = nil })
		for name, h := range map[string]string{
			"empty": "", "garbage": "task-1", "the backend's id": "t1",
			"a foreign one": foreign, "another route's": elsewhere,
			"a forged one": flipped(own, -1), "a forged nonce": flipped(own, 10), "a forged hosted one": flipped(hosted, -20),
			"cut": own[:len(own)-4], "longer": own + "AAAA", "padded": own + "=",
			"of another key": alien, "of another shape": odd, "of another kind": cursor,
			"very long": strings.Repeat("A", 100000),
		} {
			// A-H2: all the same, on every method.
			errs := []error{w.getErr(h)}
			_, err := w.Cancel(w.Context(), backendName, alice, h)
			errs = append(errs, err, w.Result(w.Context(), backendName, alice, h).Err)
			for _, err := range errs {
				if !errors.Is(err, task.ErrUnknown) {
					w.Errorf("A-H2 %s: %v, want %v", name, err, task.ErrUnknown)
				}
			}
		}
		w.wantGets(0)
		// A-H3: the owner is the principal, whatever else has changed.
		other := port.Caller{Session: "another", Principal: alice.Principal, Version: "2025-11-25"}
		if _, err := w.Get(w.Context(), backendName, other, own); err != nil {
			w.Errorf("A-H3 another session of the owner: %v", err)
		}
		if w.Owner(other) != w.Owner(alice) || w.Owner(bob) == w.Owner(alice) || strings.Contains(w.Owner(alice), "alice") {
			w.Error("A-H3 an owner is a keyed hash of the principal")
		}
	})
}

func TestHandlesAfterARotation(t *testing.T) {
	bubble(t, func(w *world) {
		h := w.proxied("t1")
		w.stop()
		var err error
		if w.keys, err = seal.New([][]byte{[]byte("a brand new secret"), []byte("0123456789abcdef")}, env.System().Random()); err != nil {
			w.Fatal(err)
		}
		w.start()
		w.wantStatus(h, port.TaskWorking)
		if diff := cmp.Diff([]string{h, w.proxied("t2")}, w.handles(w.list("", false, 10)), cmpSorted()); diff != "" {
			w.Errorf("list (-want +got):\n%s", diff)
		}
	})
}
