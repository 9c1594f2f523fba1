package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

type driven struct {
	doc wire.Value
	err error
}

// driving starts a task of the backend and drives it.
func (w *world) driving(ctx context.Context) <-chan driven {
	out := make(chan driven, 1)
	seed := w.seedOf("t1").Seed
	go func() {
		d, err := w.Drive(ctx, backendName, alice, seed)
		out <- driven{d, err}
	}()
	synctest.Wait()
	return out
}

func (w *world) wantCancels(want int) {
	w.Helper()
	synctest.Wait()
	if _, cancels := w.backend.asked(); cancels != want {
		w.Errorf("%d cancellations at the backend, want %d", cancels, want)
	}
}

func TestDrive(t *testing.T) {
	t.Parallel()
	t.Run("A-T12 it returns the final document", func(t *testing.T) {
		bubble(t, func(w *world) {
			out := w.driving(w.Context())
			after(10*second - time.Millisecond)
			w.now("t1", port.TaskInputRequired)
			w.wantGets(10)
			after(10 * second)
			w.now("t1", port.TaskCompleted)
			after(second)
			got := <-out
			if d, err := parse(got.doc); got.err != nil || err != nil || d.Status != port.TaskCompleted || string(d.Result) != `{"content":[]}` {
				w.Errorf("got %s, %v", got.doc, got.err)
			}
			w.wantCancels(0)
			// A-T16: nobody knows of it.
			if page := w.list("", false, 10); len(page.Tasks) != 0 {
				w.Errorf("listed %v", page.Tasks)
			}
			if live := w.liveness(); len(live)+len(w.told())+w.store.writes != 0 {
				w.Errorf("tracked %v, told %v, %d writes", live, w.told(), w.store.writes)
			}
		})
	})
	t.Run("A-T13 a task that the backend forgets is its error", func(t *testing.T) {
		bubble(t, func(w *world) {
			out := w.driving(w.Context())
			w.backend.drop("t1")
			after(second)
			if got := <-out; !errors.Is(got.err, errNoTask) {
				w.Errorf("got %v, want %v", got.err, errNoTask)
			}
			w.wantCancels(0)
		})
	})
	t.Run("a malformed seed is an error", func(t *testing.T) {
		bubble(t, func(w *world) {
			_, err := w.Drive(w.Context(), backendName, alice, `{}`)
			w.wantCode(err, jsonrpc.CodeInternal)
			w.wantGets(0)
		})
	})
}

func TestDriveForAClientThatLeaves(t *testing.T) {
	t.Parallel()
	t.Run("A-T16 a client that leaves cancels it", func(t *testing.T) {
		bubble(t, func(w *world) {
			left := errors.New("left")
			ctx, cancel := context.WithCancelCause(w.Context())
			out := w.driving(ctx)
			after(1500 * time.Millisecond)
			w.backend.set(func(b *backend) { b.cancelDelay = 5 * second })
			cancel(left)
			if pending(out) {
				w.Fatal("the call waits for the backend")
			}
			if got := <-out; !errors.Is(got.err, left) {
				w.Errorf("got %v, want %v", got.err, left)
			}
			w.wantCancels(1)
		})
	})
	t.Run("A-T16 also in the middle of a poll", func(t *testing.T) {
		bubble(t, func(w *world) {
			left := errors.New("left")
			ctx, cancel := context.WithCancelCause(w.Context())
			w.backend.set(func(b *backend) { b.getDelay = minute })
			out := w.driving(ctx)
			cancel(left)
			if got := <-out; !errors.Is(got.err, left) {
				w.Errorf("got %v, want %v", got.err, left)
			}
			w.wantCancels(1)
		})
	})
}

func TestDriveThroughAnOutage(t *testing.T) {
	t.Parallel()
	t.Run("a short outage is survived", func(t *testing.T) {
		bubble(t, func(w *world) {
			out := w.driving(w.Context())
			for range 3 {
				w.backend.set(func(b *backend) { b.getErr = errOutage })
				after(5 * second)
				w.backend.set(func(b *backend) { b.getErr = nil })
				after(2 * second)
			}
			if !pending(out) {
				w.Fatalf("given up: %+v", <-out)
			}
			w.now("t1", port.TaskCompleted)
			after(second)
			if got := <-out; got.err != nil {
				w.Errorf("got %v", got.err)
			}
		})
	})
	t.Run("a long one is not, and the task is cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			out := w.driving(w.Context())
			w.backend.set(func(b *backend) { b.getErr = errOutage })
			after(6 * second)
			if pending(out) {
				w.Fatal("not given up")
			}
			if got := <-out; !errors.Is(got.err, errOutage) {
				w.Errorf("got %v, want %v", got.err, errOutage)
			}
			w.wantGets(7)
			w.wantCancels(1)
		})
	})
	t.Run("an answer that is no task ends it, and the task is cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			out := w.driving(w.Context())
			w.backend.set(func(b *backend) { b.raw = `{"status":"odd"}` })
			after(second)
			got := <-out
			w.wantCode(got.err, jsonrpc.CodeInternal)
			w.wantCancels(1)
		})
	})
}

func TestDriveIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("G-8 it ends with times.call_total", func(t *testing.T) {
		bubble(t, func(w *world) {
			out := w.driving(w.Context())
			after(hour)
			if pending(out) {
				w.Fatal("it goes on")
			}
			w.wantCode((<-out).err, jsonrpc.CodeInternal)
			w.wantCancels(1)
		})
	})
	t.Run("it ends with the manager, which cancels the task first", func(t *testing.T) {
		bubble(t, func(w *world) {
			out := w.driving(w.Context())
			w.backend.set(func(b *backend) { b.cancelDelay = second })
			w.stop()
			w.wantCancels(1)
			w.wantCode((<-out).err, jsonrpc.CodeInternal)
			_, err := w.Drive(w.Context(), backendName, alice, w.seedOf("t2").Seed)
			w.wantCode(err, jsonrpc.CodeInternal)
		})
	})
}
