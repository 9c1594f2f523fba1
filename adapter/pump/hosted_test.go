package pump_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// hosted is a call that has become a task of the bridge.
type hosted struct {
	*pump.Task

	handle string
	stops  atomic.Int32
}

// hosts makes a task of a call.
func (p *process) hosts(ttl time.Duration) *hosted {
	p.w.Helper()
	h := new(hosted)
	task, out, err := p.Host(p.w.Context(), pump.Hosting{Call: p.call(alice), ID: "77", TTL: ttl, Stop: func() { h.stops.Add(1) }})
	if err != nil {
		p.w.Fatalf("Host: %v", err)
	}
	f := parseFace(p.w.T, out)
	if f.Status != port.TaskWorking || f.Info != `"basalt 1"` {
		p.w.Errorf("created %+v", f)
	}
	h.Task, h.handle = task, f.Handle
	return h
}

var errCut = &port.UpstreamError{Op: "call", Sent: true, Err: errors.New("cut")}

// TestHosted: a call that takes long is a task like any other (host_tasks).
func TestHosted(t *testing.T) {
	t.Parallel()
	t.Run("A-T9 B-G1 at work, then its result, on record", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.hosts(hour), w.replica()
			w.wantGet(h.handle, port.TaskWorking)
			other.wantGet(h.handle, port.TaskWorking)
			h.Finish(`{"text":"done"}`, nil)
			w.crash()
			for _, p := range []*process{w.process, other} {
				if f := p.wantGet(h.handle, port.TaskCompleted); string(f.Result) != `{"text":"done"}` || *f.TTL != hour.Milliseconds() {
					w.Errorf("shown %+v", f)
				}
			}
			w.wantAsked()
			w.wantPinned(0)
		})
	})
	t.Run("B-G4 or the error in which the call has ended", func(t *testing.T) {
		bubble(t, func(w *world) {
			one, two := w.hosts(hour), w.hosts(hour)
			one.Finish("", jsonrpc.NewError(-32050, "broken"))
			two.Finish("", errCut)
			if f := w.wantGet(one.handle, port.TaskFailed); f.Error != "-32050 broken" {
				w.Errorf("error %s", f.Error)
			}
			if f := w.wantGet(two.handle, port.TaskFailed); f.Error != "-32603 upstream connection lost; outcome unknown" {
				w.Errorf("error %s", f.Error)
			}
		})
	})
	t.Run("A-T11 kept for a time within bounds, and not longer", func(t *testing.T) {
		bubble(t, func(w *world) {
			short, long := w.hosts(time.Second), w.hosts(1000*hour)
			short.Finish(`{}`, nil)
			long.Finish(`{}`, nil)
			if f := w.get(long.handle); *f.TTL != w.times.MaxTTL.Milliseconds() {
				w.Errorf("lives for %d ms", *f.TTL)
			}
			after(50 * time.Second)
			if f := w.get(short.handle); *f.TTL != w.times.MinTTL.Milliseconds() {
				w.Errorf("lives for %d ms", *f.TTL)
			}
			after(10 * time.Second)
			w.wantCode(short.handle, jsonrpc.CodeInvalidParams)
		})
	})
}

// TestHostedKept: a hosted task is on record from its beginning to its end (DESIGN §4.2).
func TestHostedKept(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 not on record it does not exist", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errors.New("the disk is full") }
			})
			if _, out, err := w.Host(w.Context(), pump.Hosting{Call: w.call(alice), ID: "77", TTL: hour, Stop: func() {}}); err == nil {
				w.Errorf("told of %s", out)
			}
			w.wantPinned(0)
			w.wantDrained()
		})
	})
	t.Run("DESIGN §4.2 a store that is away does not lose the end", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.hosts(hour)
			w.store.set(func(f *faulty) {
				f.put = func(context.Context, state.Record) error { return errors.New("the store is away") }
			})
			done := make(chan struct{})
			go func() {
				h.Finish(`{"text":"done"}`, nil)
				close(done)
			}()
			w.wantGet(h.handle, port.TaskWorking)
			after(time.Minute)
			w.store.set(func(f *faulty) { f.put = nil })
			<-done
			w.wantGet(h.handle, port.TaskCompleted)
		})
	})
}

// TestHostedProcess: a hosted call lives and ends with its process, which is said (DESIGN §4.2, §4.3).
func TestHostedProcess(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 its process dies: it says interrupted", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.hosts(hour), w.replica()
			w.process.kill()
			other.wantGet(h.handle, port.TaskWorking) // nobody knows yet
			after(15 * time.Second)
			f := other.wantGet(h.handle, port.TaskFailed)
			if f.Error != "-32603 interrupted: the bridge stopped while the call was running; its outcome is unknown" {
				w.Errorf("error %s", f.Error)
			}
			h.Finish(`{}`, nil) // it is dead
			w.process = w.launch()
			w.wantGet(h.handle, port.TaskFailed)
		})
	})
	t.Run("DESIGN §4.6 its process stops: it is cut, and says so at once", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.hosts(hour), w.replica()
			go func() {
				for h.stops.Load() == 0 {
					time.Sleep(time.Second)
				}
				h.Finish("", errCut)
			}()
			w.process.stop()
			time.Sleep(2 * time.Second)
			w.process = w.launch()
			if f := other.wantGet(h.handle, port.TaskFailed); f.Message == "" {
				w.Errorf("shown %+v", f)
			}
		})
	})
	t.Run("DESIGN §4.3 a store that was away does not make it interrupted", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.hosts(hour), w.replica()
			w.away.Store(true)
			after(20 * time.Second)
			w.away.Store(false)
			other.wantGet(h.handle, port.TaskWorking)
			after(10 * time.Second)
			other.wantGet(h.handle, port.TaskWorking)
			after(time.Minute)
			other.wantGet(h.handle, port.TaskWorking)
			h.Finish(`{"text":"done"}`, nil)
			other.wantGet(h.handle, port.TaskCompleted)
		})
	})
}

// TestHostedDialogue: a hosted task asks, and is cancelled, by way of any process (§4.21, §4.22).
func TestHostedDialogue(t *testing.T) {
	t.Parallel()
	t.Run("B-I3 B-I5 it asks, and any process takes the answer", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.hosts(hour), w.replica()
			h.Ask(w.session(home), ask("0", "elicit", "", "name?"))
			h.Ask(w.session(home), ask("1", "roots", "", "where?"))
			h.Ask(w.session(home), ask("2", "elicit", "", "age?"))
			h.Withdraw(w.session(home), "2")
			other.wantGet(h.handle, port.TaskInputRequired, "elicitation-1=name?", "roots-2=where?")
			other.answers(h.handle, `elicitation-1={"n":1}`)
			w.answers(h.handle, `roots-2={}`)
			w.wantAsked(`answered 0 {"answer":{"n":1},"of":""}`, `answered 1 {"answer":{},"of":""}`)
			w.wantGet(h.handle, port.TaskWorking)
			h.Ask(w.session(home), ask("3", "elicit", "", "more?"))
			h.Finish(`{}`, nil)
			w.wantGet(h.handle, port.TaskCompleted)
			w.wantPinned(1) // by the process that gave an answer, for a while
			after(2 * hour)
			w.wantPinned(0)
		})
	})
	t.Run("§4.22 cancelled here: the call is stopped, for good", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.hosts(hour)
			h.Ask(w.session(home), ask("0", "elicit", "", "name?"))
			h.Ask(w.session(home), ask("1", "sample", "", "poem?"))
			w.cancels(h.handle)
			w.wantAsked(`answered 0 {"dismissed":true}`, "refused 1 -32603")
			w.wantGet(h.handle, port.TaskCancelled)
			w.cancels(h.handle)
			h.Finish(`{"text":"done"}`, nil)
			w.wantGet(h.handle, port.TaskCancelled)
			if h.stops.Load() != 1 {
				w.Errorf("stopped %d times, want once", h.stops.Load())
			}
			w.wantAsked()
		})
	})
	t.Run("§4.22 DESIGN §4.6 cancelled elsewhere: the call is stopped where it runs", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.hosts(hour), w.replica()
			other.cancels(h.handle)
			after(time.Second)
			if h.stops.Load() != 1 {
				w.Errorf("stopped %d times, want once", h.stops.Load())
			}
			w.wantAsked()
			w.wantGet(h.handle, port.TaskCancelled)
			h.Finish("", errCut)
			other.wantGet(h.handle, port.TaskCancelled)
			w.wantPinned(0)
		})
	})
	t.Run("§4.22 cancelled where nobody runs it any more: the backend is told", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, other := w.hosts(hour), w.replica()
			w.crash()
			other.cancels(h.handle)
			after(time.Minute)
			w.wantAsked(`cancelled {"id":77}`)
			other.wantGet(h.handle, port.TaskCancelled)
			w.wantPinned(0)
		})
	})
	t.Run("B-T6 nobody learns of it", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.hosts(hour)
			h.Abandon(w.Context(), alice)
			if h.stops.Load() != 1 {
				w.Errorf("stopped %d times, want once", h.stops.Load())
			}
			h.Finish("", errCut)
			w.wantPinned(0)
		})
	})
}

// wantDrained checks that the process runs no call.
func (p *process) wantDrained() {
	p.w.Helper()
	ctx, cancel := context.WithTimeout(p.w.Context(), time.Minute)
	defer cancel()
	if err := p.Drain(ctx); err != nil {
		p.w.Errorf("Drain: %v", err)
	}
}

// TestShutdown: hosted calls may end first, then everything does (DESIGN §4.6).
func TestShutdown(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.6 it drains", func(t *testing.T) {
		bubble(t, func(w *world) {
			one, two := w.hosts(hour), w.hosts(hour)
			ctx, cancel := context.WithCancelCause(w.Context())
			done := make(chan error, 1)
			go func() { done <- w.Drain(ctx) }()
			one.Finish(`{}`, nil)
			synctest.Wait()
			if len(done) != 0 {
				w.Error("drained, and a call runs")
			}
			cancel(errDead)
			if err := <-done; !errors.Is(err, errDead) {
				w.Errorf("Drain: %v", err)
			}
			two.Finish(`{}`, nil)
			w.wantDrained()
			w.get(one.handle)
		})
	})
	t.Run("DESIGN §4.6 nothing begins after the end", func(t *testing.T) {
		bubble(t, func(w *world) {
			h, made := w.waited("t1"), w.job("t2")
			w.hands("t1", ask("0", "elicit", "", "name?"))
			call := w.call(alice)
			w.process.stop()
			w.backend.was()
			_, _, adopted := w.Adopt(w.Context(), call, made)
			_, _, hosted := w.Host(w.Context(), pump.Hosting{Call: call})
			_, got := w.Get(w.Context(), backendName, alice, h)
			_, cancelled := w.Cancel(w.Context(), backendName, alice, h)
			for what, err := range map[string]error{
				"Adopt": adopted, "Host": hosted, "Get": got, "Cancel": cancelled, "Update": w.answerAs(alice, h, "elicitation-1={}"),
			} {
				if port.RPCError(err).Code != jsonrpc.CodeInternal {
					w.Errorf("%s: %v", what, err)
				}
			}
			w.Watch(w.Context(), backendName, alice, h, "1", func([]byte) bool { w.Error("told"); return true })
			w.wantAsked()
			w.process = w.launch()
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
	t.Run("DESIGN §4.6 a backend that hears nothing does not hold it up", func(t *testing.T) {
		bubble(t, func(w *world) {
			for i := range 20 {
				w.waited(fmt.Sprintf("t%d", i))
			}
			w.backend.set(func(b *backend) { b.deaf = true })
			begun := time.Now()
			w.process.stop()
			if took := time.Since(begun); took > 2*time.Second {
				w.Errorf("took %v", took)
			}
			w.process = w.launch()
		})
	})
}

// TestShutdownHears: what is heard at the end is not lost (DESIGN §4.2).
func TestShutdownHears(t *testing.T) {
	t.Parallel()
	t.Run("DESIGN §4.2 a question that is read while it stops is not lost, or not taken", func(t *testing.T) {
		bubble(t, func(w *world) {
			h := w.waited("t1")
			wait := w.waits1()
			w.store.set(func(f *faulty) {
				f.put = func(ctx context.Context, _ state.Record) error {
					time.Sleep(time.Second)
					return ctx.Err()
				}
			})
			go wait.call.OnMessage(ask("0", "elicit", "", "name?"))
			time.Sleep(time.Millisecond)
			w.process.stop()
			wait.call.OnMessage(ask("1", "elicit", "", "age?"))
			for _, told := range w.backend.was() {
				if told == "refused 0 -32603" || told == "refused 1 -32603" {
					w.Errorf("the backend was told %q", told)
				}
			}
			w.process = w.launch()
			w.wantGet(h, port.TaskInputRequired, "elicitation-1=name?")
		})
	})
}
