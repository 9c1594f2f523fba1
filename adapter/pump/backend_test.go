package pump_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

var (
	errNoTask  = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Task not found")
	errNotOver = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Task not completed yet")
	errMethod  = jsonrpc.NewError(jsonrpc.CodeMethodNotFound, "Method not found")
	errOutage  = &port.UpstreamError{Op: "get", Err: errors.New("connection refused")}
	errDead    = errors.New("the process is dead")
)

// job is a task of the backend. Its end is a result or an error.
type job struct {
	doc
	result wire.Value
	err    error
	over   chan struct{} // closed at the end
}

// waiter is a request for the end of a task that the backend has not answered.
type waiter struct {
	id   string // of the task
	rid  string // of the request
	call port.SessionCall
	brk  chan error // breaks the request
}

// backend is a server with sessions and scripted tasks.
type backend struct {
	unheeding bool // it takes no refusal

	mu      sync.Mutex
	about   wire.Value
	jobs    map[string]*job
	asked   []string // what it was asked, and told
	waiters []*waiter
	lost    map[string]bool // sessions that it has forgotten
	bound   bool            // tasks die with their session
	lastID  int
	deaf    bool                                                                // notifications are never accepted
	onCall  map[string]func(ctx context.Context, id string) (wire.Value, error) // in place of its own answers
	answer  func(response wire.Value) error                                     // when it is given one
	hearGet func(call port.SessionCall)                                         // what it says ahead of its answer to "get"
}

// set changes the backend's behaviour.
func (b *backend) set(f func(b *backend)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(b)
}

// does has the backend answer a request in its own way.
func (b *backend) does(method string, f func(ctx context.Context, id string) (wire.Value, error)) {
	b.set(func(b *backend) { b.onCall[method] = f })
}

// fails has the backend answer a request with an error.
func (b *backend) fails(method string, err error) {
	b.does(method, func(context.Context, string) (wire.Value, error) { return "", err })
}

// behaves has the backend answer a request as it should.
func (b *backend) behaves(method string) { b.set(func(b *backend) { delete(b.onCall, method) }) }

// now sets the status of a task.
func (b *backend) now(id string, status port.TaskStatus) {
	b.set(func(b *backend) { b.jobs[id].Status = status })
}

// ends ends a task.
func (b *backend) ends(id string, status port.TaskStatus, result wire.Value, err error) {
	b.set(func(b *backend) {
		j := b.jobs[id]
		j.Status, j.result, j.err = status, result, err
		close(j.over)
	})
}

func (b *backend) completes(id string) { b.ends(id, port.TaskCompleted, `{"text":"done"}`, nil) }

// was returns and forgets what the backend was asked and told.
func (b *backend) was() []string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked
	b.asked = nil
	return asked
}

// waits returns the requests for the end of a task that are open.
func (b *backend) waits() []*waiter {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.waiters)
}

func (b *backend) note(format string, args ...any) {
	b.set(func(b *backend) { b.asked = append(b.asked, fmt.Sprintf(format, args...)) })
}

func (b *backend) do(ctx context.Context, call port.SessionCall) (wire.Value, error) {
	id, _ := call.Params.Text()
	b.note("%s %s", call.Method, id)
	b.mu.Lock()
	b.lastID++
	rid := string(jsonrpc.IntID(int64(b.lastID)))
	b.mu.Unlock()
	if call.OnID != nil {
		call.OnID(jsonrpc.ID(rid))
	}
	b.mu.Lock()
	j, own, hear := b.jobs[id], b.onCall[call.Method], b.hearGet
	b.mu.Unlock()
	if hear != nil && call.Method == "get" {
		hear(call)
	}
	switch {
	case own != nil:
		return own(ctx, id)
	case j == nil:
		return "", errNoTask
	case call.Method == "result":
		return b.wait(ctx, call, rid, j)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if call.Method == "cancel" {
		if j.Status.Terminal() {
			return "", errNoTask // "cannot be cancelled" has the same code
		}
		j.Status = port.TaskCancelled
		close(j.over)
	}
	return j.value(), nil
}

// wait keeps a request open until its task is over.
func (b *backend) wait(ctx context.Context, call port.SessionCall, rid string, j *job) (wire.Value, error) {
	w := &waiter{id: j.ID, rid: rid, call: call, brk: make(chan error, 1)}
	b.set(func(b *backend) { b.waiters = append(b.waiters, w) })
	defer b.set(func(b *backend) {
		b.waiters = slices.DeleteFunc(b.waiters, func(other *waiter) bool { return other == w })
	})
	select {
	case <-ctx.Done():
		return "", &port.UpstreamError{Op: "result", Sent: true, Err: context.Cause(ctx)}
	case err := <-w.brk:
		return "", err
	case <-j.over:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return j.result, j.err
}

// session is one at the backend, as a process has it. The process may be dead.
type session struct {
	p      *process
	ticket port.Ticket
	gone   chan struct{}
}

func (s *session) Ticket() port.Ticket { return s.ticket }

func (s *session) About() wire.Value {
	s.p.w.backend.mu.Lock()
	defer s.p.w.backend.mu.Unlock()
	return s.p.w.backend.about
}
func (s *session) Lost() <-chan struct{}     { return s.gone }
func (s *session) Close(context.Context)     {}
func (s *session) isLost() bool              { return s.p.w.backend.forgot(s.ticket.ID) }
func (b *backend) forgot(ticket string) bool { b.mu.Lock(); defer b.mu.Unlock(); return b.lost[ticket] }

func (s *session) Do(ctx context.Context, call port.SessionCall) (wire.Value, error) {
	switch {
	case s.p.dead():
		return "", errDead
	case s.isLost():
		return "", port.ErrSessionLost
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.p.life, func() { cancel(errDead) }) //nolint:contextcheck // the process's
	defer stop()
	return s.p.w.backend.do(ctx, call)
}

func (s *session) Notify(ctx context.Context, method string, params wire.Value) error {
	if s.p.dead() {
		return errDead
	}
	b := s.p.w.backend
	b.note("%s %s", method, params)
	b.mu.Lock()
	deaf := b.deaf
	b.mu.Unlock()
	if deaf {
		<-ctx.Done()
		return &port.UpstreamError{Op: method, Err: context.Cause(ctx)}
	}
	return nil
}

func (s *session) Respond(ctx context.Context, response []byte) error {
	switch {
	case ctx.Err() != nil:
		return &port.UpstreamError{Op: "answer", Err: context.Cause(ctx)}
	case s.p.dead():
		return errDead
	case s.isLost():
		return port.ErrSessionLost
	}
	b := s.p.w.backend
	msg, err := jsonrpc.Read(response)
	if err != nil {
		return err
	}
	if msg.Error != nil {
		b.note("refused %s %d", msg.ID, msg.Error.Code)
		b.mu.Lock()
		deaf := b.unheeding
		b.mu.Unlock()
		if deaf {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	}
	b.note("answered %s %s%s", msg.ID, msg.Result, strings.TrimPrefix(" in "+s.ticket.ID, " in "+home.ID))
	b.mu.Lock()
	answer := b.answer
	b.mu.Unlock()
	if answer != nil {
		return answer(msg.Result)
	}
	return nil
}

// lease is the use of a session. It lends another when the backend has forgotten it.
type lease struct {
	*session

	mu       sync.Mutex
	now      *session
	released bool
}

func (l *lease) Session() port.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *lease) Place() port.Place { return place(l.Session().Ticket()) }

func (l *lease) Pin() func() {
	t := l.Session().Ticket()
	l.p.pin(t, 1)
	return sync.OnceFunc(func() { l.p.pin(t, -1) })
}

func (l *lease) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		l.p.w.Error("a session is left after it was given back")
	}
	l.p.w.mu.Lock()
	defer l.p.w.mu.Unlock()
	l.p.w.left++
}

func (l *lease) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.released {
		l.released = true
		l.p.w.lent(-1)
	}
}

func (l *lease) Do(ctx context.Context, call port.SessionCall) (wire.Value, error) {
	l.mu.Lock()
	s := l.now
	l.mu.Unlock()
	out, err := s.Do(ctx, call)
	if !errors.Is(err, port.ErrSessionLost) {
		return out, err
	}
	b := l.p.w.backend
	b.mu.Lock()
	b.lastID++
	fresh := "fresh-" + strconv.Itoa(b.lastID)
	if b.bound {
		clear(b.jobs)
	}
	b.mu.Unlock()
	s = l.p.session(port.Ticket{ID: fresh})
	l.mu.Lock()
	l.now = s
	l.mu.Unlock()
	return s.Do(ctx, call)
}

// Resume implements [port.SessionLender].
func (p *process) Resume(_ context.Context, backend string, caller port.Caller, at port.Place) (port.LentSession, error) {
	if backend != backendName {
		return nil, errors.New("no such backend")
	}
	p.w.mu.Lock()
	refuse, lending := p.w.refuse, p.w.lending
	p.w.resumed = append(p.w.resumed, string(caller.Capabilities))
	p.w.places = append(p.w.places, at.ID)
	p.w.mu.Unlock()
	if refuse != nil {
		return nil, refuse
	}
	if lending != nil {
		lending()
	}
	p.w.lent(1)
	s := p.session(at.Ticket)
	return &lease{session: s, now: s}, nil
}

// Authorization implements [port.SessionLender].
func (p *process) Authorization(_ string, caller port.Caller) string { return caller.Authorization }

func place(t port.Ticket) port.Place {
	return port.Place{Ticket: t, Owner: "o", Capabilities: "c"}
}

// ms is a lifetime.
func ms(d time.Duration) *int64 {
	n := d.Milliseconds()
	return &n
}
