package pump_test

import (
	"errors"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// storeAway makes the store fail, or work again.
func (p *process) storeAway(away bool) {
	p.store.set(func(f *faulty) {
		f.get = nil
		if away {
			f.get = func() error { return errors.New("the store is away") }
		}
	})
}

// TestGetWithoutStore: a task of the backend can be read while the store is away, as
// far as the backend alone can tell of it (DESIGN §4, "most reads need no store").
func TestGetWithoutStore(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4 it works, and it has ended", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.made("t1"), w.replica()
			w.storeAway(true)
			other.storeAway(true)
			w.wantGet(h, port.TaskWorking)
			other.wantGet(h, port.TaskWorking)
			w.backend.completes("t1")
			after(time.Minute) // past the backend's poll interval
			if f := other.wantGet(h, port.TaskCompleted); string(f.Result) != `{"text":"done"}` {
				w.Errorf("result %s", f.Result)
			}
			// What was told stands (B-G7).
			w.backend.now("t1", port.TaskWorking)
			after(time.Minute)
			other.wantGet(h, port.TaskCompleted)
			other.storeAway(false)
			w.storeAway(false)
			w.backend.now("t1", port.TaskCompleted)
			w.wantGet(h, port.TaskCompleted)
		})
	})
	t.Run("B-I3 what it asks is in the store", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			w.hands("t1", ask("0", "elicit", "t1", "name?"))
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
			w.storeAway(true)
			w.wantCode(h, jsonrpc.CodeInternal)
			w.storeAway(false)
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
	t.Run("§4.23 that the backend does not know it is not believed", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.made("t1")
			w.backend.set(func(b *backend) { delete(b.jobs, "t1") })
			w.storeAway(true)
			w.wantCode(h, jsonrpc.CodeInternal)
		})
	})
	t.Run("§4.20 a hosted task is in the store", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.hosts(hour).handle
			w.storeAway(true)
			w.wantCode(h, jsonrpc.CodeInternal)
		})
	})
}
