package legacy_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/state"
)

// TestFloodOfInitialize: when there are too many sessions, one that nobody has used since
// it was opened makes room for the next client. One that is used never does.
func TestFloodOfInitialize(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Limits.Sessions = 4 }, func(t *testing.T, r *rig) {
		used, streaming := r.open(), r.open()
		r.post(used, initialized)
		open := r.stream(http.MethodGet, streaming, "")
		time.Sleep(time.Minute)
		first, second := r.open(), r.open()
		a := r.post("", initialize)
		if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
			t.Errorf("one too many at once: %d", a.status)
		}
		time.Sleep(10 * time.Second)
		third := r.open() // in place of the first
		synctest.Wait()
		if a := r.post(first, call("1", "ping")); a.status != http.StatusNotFound {
			t.Errorf("the session that made room: %d %s", a.status, a.body)
		}
		for _, id := range []string{used, streaming, second, third} {
			if a := r.post(id, call("1", "ping")); a.status != http.StatusOK {
				t.Errorf("a session that did not: %d %s", a.status, a.body)
			}
		}
		time.Sleep(time.Minute)
		if a := r.post("", initialize); a.status != http.StatusServiceUnavailable {
			t.Errorf("all are used: %d", a.status)
		}
		open.hangUp()
	})
}

// TestUsedElsewhere: a session that another process serves is not ended where nobody uses
// it.
func TestUsedElsewhere(t *testing.T) {
	store := new(lastWritten)
	tune := func(o *legacy.Options) {
		o.Limits.Sessions = 1
		store.Store, o.Store = o.Store, store
	}
	bubble(t, tune, func(t *testing.T, r *rig) {
		id := r.open()
		used := store.rec
		used.Value = []byte(`{"used":true,` + string(used.Value[1:]))
		if _, err := store.Put(t.Context(), used, state.Always); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		r.do(http.MethodDelete, r.open(), "")
		synctest.Wait()
		if a := r.post(id, call("1", "ping")); a.status != http.StatusOK {
			t.Errorf("a session that is used elsewhere: %d %s", a.status, a.body)
		}
	})
}

// lastWritten is a store that tells what was written last.
type lastWritten struct {
	state.Store
	rec state.Record
}

// Put implements [state.Store].
func (s *lastWritten) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	s.rec = rec
	s.rec.Value = slices.Clone(rec.Value)
	return s.Store.Put(ctx, rec, cond)
}
