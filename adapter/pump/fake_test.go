package pump_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	backendName = "basalt"
	hour        = time.Hour
)

var (
	all   = wire.Value(`{"elicit":{},"sample":{},"roots":{}}`)
	alice = port.Caller{Principal: "alice", Authorization: "Bearer a", Capabilities: all}
	bob   = port.Caller{Principal: "bob", Authorization: "Bearer b", Capabilities: all}
	// mute is alice, in a request that declares nothing that she can be asked.
	mute = port.Caller{Principal: "alice", Authorization: "Bearer a", Capabilities: `{}`}
	// anon has no name.
	anon = port.Caller{Capabilities: all}
)

// faulty is what one process sees of a store, and can be made to fail.
type faulty struct {
	state.Store

	mu     sync.Mutex
	dead   bool                                              // the process has been killed
	put    func(ctx context.Context, rec state.Record) error // before a write
	wrote  func(rec state.Record)                            // after a write
	get    func() error
	renew  func() error
	still  bool // leases are not renewed, and nobody notices
	writes int  // less what was deleted
}

func (f *faulty) set(change func(f *faulty)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *faulty) hooks() (put func(context.Context, state.Record) error, wrote func(state.Record), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return nil, nil, errDead
	}
	return f.put, f.wrote, nil
}

func (f *faulty) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	put, wrote, err := f.hooks()
	if err == nil && put != nil {
		err = put(ctx, rec)
	}
	if err != nil {
		return 0, err
	}
	rev, err := f.Store.Put(ctx, rec, cond)
	if err == nil {
		f.set(func(f *faulty) { f.writes++ })
		if wrote != nil {
			wrote(rec)
		}
	}
	return rev, err
}

func (f *faulty) Get(ctx context.Context, key string) (state.Record, error) {
	_, _, err := f.hooks()
	f.mu.Lock()
	get := f.get
	f.mu.Unlock()
	if err == nil && get != nil {
		err = get()
	}
	if err != nil {
		return state.Record{}, err
	}
	return f.Store.Get(ctx, key)
}

func (f *faulty) Delete(ctx context.Context, key string, cond state.Cond) error {
	if _, _, err := f.hooks(); err != nil {
		return err
	}
	f.set(func(f *faulty) { f.writes-- })
	return f.Store.Delete(ctx, key, cond)
}

func (f *faulty) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (state.Lease, error) {
	if _, _, err := f.hooks(); err != nil {
		return nil, err
	}
	l, err := f.Store.Acquire(ctx, name, holder, ttl)
	if err != nil {
		return nil, err
	}
	return faultyLease{l, f}, nil
}

type faultyLease struct {
	state.Lease
	f *faulty
}

func (l faultyLease) Renew(ctx context.Context, ttl time.Duration) error {
	_, _, err := l.f.hooks()
	l.f.mu.Lock()
	renew, still := l.f.renew, l.f.still
	l.f.mu.Unlock()
	if still {
		return nil
	}
	if err == nil && renew != nil {
		err = renew()
	}
	if err != nil {
		return err
	}
	return l.Lease.Renew(ctx, ttl)
}

func (l faultyLease) Release(ctx context.Context) error {
	if _, _, err := l.f.hooks(); err != nil {
		return err
	}
	return l.Lease.Release(ctx)
}

// process is one that runs a manager. It is the lender of its sessions, too.
type process struct {
	*pump.Manager

	process *replica.Replica
	silent  atomic.Bool // it shows no sign of life
	w       *world
	store   *faulty
	life    context.Context
	end     context.CancelFunc

	mu       sync.Mutex
	sessions map[port.Ticket]*session
	pins     map[port.Ticket]int
}

// pin keeps a session at the backend, or lets it go again.
func (p *process) pin(t port.Ticket, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pins[t] += n
}

// pinned returns how many sessions the process keeps that the backend knows.
func (p *process) pinned() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := 0
	for t, n := range p.pins {
		if n > 0 && !p.w.backend.forgot(t.ID) {
			kept++
		}
	}
	return kept
}

func (p *process) dead() bool { return p.life.Err() != nil }

// session returns the session of a ticket.
func (p *process) session(t port.Ticket) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[t]
	if s == nil {
		s = &session{p: p, ticket: t, gone: make(chan struct{})}
		p.sessions[t] = s
	}
	return s
}

// world is a backend with processes in front of it, in a bubble of fake time.
type world struct {
	away atomic.Bool // the store, for signs of life
	*testing.T
	*process // that the test talks to

	backend *backend
	disk    state.Store
	keys    *seal.Keys
	times   pump.Times
	logged  *lockedBuffer
	others  []*process

	attended int // by a process; 0 is the default

	mu      sync.Mutex
	left    int      // leases of sessions in which something lives on
	leases  int      // that have not been given back
	refuse  error    // sessions are not lent
	lending func()   // runs before one is
	resumed []string // with these capabilities
	places  []string // the sessions that were
}

type lockedBuffer struct {
	mu sync.Mutex
	strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

func (w *world) lent(n int) { w.mu.Lock(); defer w.mu.Unlock(); w.leases += n }

// wantPinned checks how many sessions are kept at the backend.
func (w *world) wantPinned(want int) {
	w.Helper()
	synctest.Wait()
	pins := 0
	for _, p := range append([]*process{w.process}, w.others...) {
		pins += p.pinned()
	}
	if pins != want {
		w.Errorf("%d sessions are kept at the backend, want %d", pins, want)
	}
}

// bubble runs a test with one process in fake time.
func bubble(t *testing.T, f func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys, err := seal.New([][]byte{[]byte("0123456789abcdef")}, env.System().Random())
		if err != nil {
			t.Fatal(err)
		}
		store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{
			T: t, keys: keys, disk: store, logged: new(lockedBuffer),
			backend: &backend{
				about: `{"info":"basalt 1"}`, jobs: make(map[string]*job), lost: make(map[string]bool),
				onCall: make(map[string]func(context.Context, string) (wire.Value, error)),
			},
			times: pump.Times{
				PollFloor: 100 * time.Millisecond, PollDefault: time.Second, PollCeiling: 30 * time.Second,
				HostedPoll: time.Second, MinTTL: time.Minute, MaxTTL: 24 * hour, Retention: 8 * hour,
			},
		}
		w.process = w.launch()
		defer func() {
			w.process.stop()
			for _, p := range w.others {
				p.stop()
			}
			w.mu.Lock()
			leases := w.leases
			w.mu.Unlock()
			if leases != 0 {
				t.Errorf("%d sessions were not given back", leases)
			}
			if open := w.backend.waits(); len(open) != 0 {
				t.Errorf("%d requests are open at the backend after the end", len(open))
			}
			if err := w.disk.Close(); err != nil {
				t.Errorf("close the store: %v", err)
			}
		}()
		f(w)
	})
}

// mortal is the store in which a process shows that it lives, as long as it does and
// the store is there.
type mortal struct {
	state.Store
	dead, away *atomic.Bool
}

// Put implements [state.Store].
func (m *mortal) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	if m.dead.Load() || m.away.Load() {
		return 0, errors.New("the store is away")
	}
	return m.Store.Put(ctx, rec, cond)
}

// launch starts a process.
func (w *world) launch() *process {
	w.Helper()
	p := &process{w: w, store: &faulty{Store: w.disk}, sessions: make(map[port.Ticket]*session), pins: make(map[port.Ticket]int)}
	p.life, p.end = context.WithCancel(context.Background())
	var err error
	if p.process, err = replica.New(context.WithoutCancel(w.Context()), replica.Options{
		Store: &mortal{w.disk, &p.silent, &w.away}, Keys: w.keys, Env: env.System(), Logger: slog.New(slog.DiscardHandler), Shared: true,
	}); err != nil {
		w.Fatal(err)
	}
	m, err := pump.New(pump.Options{
		Store: p.store, Process: p.process, Keys: w.keys, Env: env.System(), Logger: slog.New(slog.NewTextHandler(w.logged, nil)),
		Sessions: p, Dialect: dialect{}, Times: w.times, Attended: w.attended,
		Owners: func(caller port.Caller) []string {
			return []string{"owner " + caller.Principal, "older owner " + caller.Principal}
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	p.Manager = m
	return p
}

// replica starts one more process on the same store.
func (w *world) replica() *process {
	w.Helper()
	p := w.launch()
	w.others = append(w.others, p)
	return p
}

// stop closes the process's manager, which must leave nothing behind.
func (p *process) stop() {
	p.w.Helper()
	if err := p.Close(context.WithoutCancel(p.w.Context())); err != nil {
		p.w.Errorf("Close: %v", err)
	}
	hurried, cancel := context.WithCancel(context.WithoutCancel(p.w.Context()))
	cancel()
	_ = p.process.Close(hurried) // one that has died says nothing
	p.end()
}

// kill ends a process at once: it says nothing more to anybody.
func (p *process) kill() {
	p.w.Helper()
	p.store.set(func(f *faulty) { f.dead = true })
	p.silent.Store(true)
	p.end()
	p.stop()
}

// crash kills the process of the test and starts another one.
func (w *world) crash() {
	w.Helper()
	w.process.kill()
	w.process = w.launch()
}

// loseStore has the store forget everything.
func (w *world) loseStore() {
	w.Helper()
	w.process.kill()
	if err := w.disk.Close(); err != nil {
		w.Fatal(err)
	}
	store, err := embedded.Open(context.WithoutCancel(w.Context()), embedded.Options{Memory: true})
	if err != nil {
		w.Fatal(err)
	}
	w.disk = store
	w.process = w.launch()
}

var home = port.Ticket{ID: "session-1", Version: "v"}

// call is a call of alice's, in her session.
func (p *process) call(caller port.Caller) pump.Call {
	s := p.session(home)
	p.w.lent(1) // the call gives it back
	l := &lease{session: s, now: s}
	defer l.Release()
	return pump.Call{Backend: backendName, Caller: caller, Lease: l}
}

// job makes a task at the backend and returns the answer that makes it.
func (w *world) job(id string) wire.Value { return w.jobOf(doc{ID: id, TTL: ms(hour)}) }

func (w *world) jobOf(d doc) wire.Value {
	if d.Status == "" {
		d.Status = port.TaskWorking
	}
	if d.Created == 0 {
		d.Created = time.Now().UnixMilli()
	}
	w.backend.set(func(b *backend) { b.jobs[d.ID] = &job{doc: d, over: make(chan struct{})} })
	return wire.Value(fmt.Sprintf(`{"task":%s}`, d.value()))
}

// adopts hands out a task.
func (p *process) adopts(caller port.Caller, made wire.Value) (*pump.Task, string) {
	p.w.Helper()
	t, out, err := p.Adopt(p.w.Context(), p.call(caller), made)
	if err != nil {
		p.w.Fatalf("Adopt: %v", err)
	}
	return t, parseFace(p.w.T, out).Handle
}

// made makes a task of alice's and returns its handle.
func (w *world) made(id string) string {
	w.Helper()
	_, handle := w.adopts(alice, w.job(id))
	return handle
}

// waited makes a task that needs input, for whose end the process waits.
func (w *world) waited(id string) string {
	w.Helper()
	handle := w.made(id)
	w.backend.now(id, port.TaskInputRequired)
	w.get(handle)
	w.backend.was()
	return handle
}

func parseFace(t *testing.T, v wire.Value) face {
	t.Helper()
	var f face
	if err := json.Unmarshal([]byte(v), &f); err != nil {
		t.Fatalf("task %q: %v", v, err)
	}
	return f
}

// getAs polls a task until the answer of the backend can be expected to be new.
func (p *process) getAs(caller port.Caller, handle string) face {
	p.w.Helper()
	after(2 * time.Second)
	out, err := p.Get(p.w.Context(), backendName, caller, handle)
	if err != nil {
		p.w.Fatalf("Get: %v", err)
	}
	return parseFace(p.w.T, out)
}

func (p *process) get(handle string) face { p.w.Helper(); return p.getAs(alice, handle) }

// wantGet checks the status of a task, and the texts of its questions.
func (p *process) wantGet(handle string, status port.TaskStatus, asks ...string) face {
	p.w.Helper()
	return wantShown(p.w, p.get(handle), status, asks...)
}

func wantShown(w *world, f face, status port.TaskStatus, asks ...string) face {
	w.Helper()
	if got := f.asks(); f.Status != status || !slices.Equal(got, asks) {
		w.Errorf("%s, asking %q; want %s, asking %q", f.Status, got, status, asks)
	}
	return f
}

// asks are the questions of a task, as key=text.
func (f face) asks() []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(f.Asks)) {
		var params struct{ Text string }
		if err := json.Unmarshal(f.Asks[key].Params, &params); err != nil {
			params.Text = err.Error()
		}
		out = append(out, key+"="+params.Text)
	}
	return out
}

func (p *process) wantCode(handle string, code int64) {
	p.w.Helper()
	after(2 * time.Second)
	out, err := p.Get(p.w.Context(), backendName, alice, handle)
	wantCode(p.w, out, err, code)
}

func wantCode(w *world, out wire.Value, err error, code int64) {
	w.Helper()
	if err == nil {
		w.Errorf("%s, want an error of code %d", out, code)
	} else if got := port.RPCError(err); got.Code != code {
		w.Errorf("%v, want code %d", err, code)
	}
}

func (p *process) answerAs(caller port.Caller, handle string, answers ...string) error {
	p.w.Helper()
	var given []port.Answer
	for _, a := range answers {
		key, value, _ := strings.Cut(a, "=")
		given = append(given, port.Answer{Key: key, Value: wire.Value(value)})
	}
	out, err := p.Update(p.w.Context(), backendName, caller, handle, given)
	if err == nil && !strings.HasPrefix(string(out), "ack") {
		p.w.Errorf("Update: %s", out)
	}
	return err
}

// answers gives answers, as key=value.
func (p *process) answers(handle string, answers ...string) {
	p.w.Helper()
	if err := p.answerAs(alice, handle, answers...); err != nil {
		p.w.Errorf("Update: %v", err)
	}
}

func (p *process) cancels(handle string) {
	p.w.Helper()
	if out, err := p.Cancel(p.w.Context(), backendName, alice, handle); err != nil || !strings.HasPrefix(string(out), "ack") {
		p.w.Errorf("Cancel: %s %v", out, err)
	}
}

// wantAsked checks what the backend was asked and told since the last look.
func (w *world) wantAsked(want ...string) {
	w.Helper()
	if got := w.backend.was(); !slices.Equal(got, want) {
		w.Errorf("the backend was asked %q, want %q", got, want)
	}
}

// ask is a question of the backend.
func ask(id, method, of, text string) jsonrpc.Message {
	params := fmt.Sprintf(`{"text":%q}`, text)
	if of != "" {
		params = fmt.Sprintf(`{"text":%q,"of":%q}`, text, of)
	}
	return jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: wire.Value(id), Method: method, Params: wire.Value(params)}
}

func note(method, params string) jsonrpc.Message {
	return jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: method, Params: wire.Value(params)}
}

// status is what the backend says of a task by itself.
func status(d doc) jsonrpc.Message { return note("status", fmt.Sprintf(`{"task":%s}`, d.value())) }

// says has the backend say something on the standing stream of alice's session, and
// reports whether it was of a task.
func (p *process) says(msg jsonrpc.Message) bool { return p.saysIn(home, msg) }

func (p *process) saysIn(t port.Ticket, msg jsonrpc.Message) bool {
	s := p.session(t)
	took := p.Heard(backendName, s, msg, false) || p.Heard(backendName, s, msg, true)
	synctest.Wait()
	return took
}

// hands has the backend say something on the stream of the request for a task's end.
func (w *world) hands(id string, msg jsonrpc.Message) {
	w.Helper()
	for _, open := range w.backend.waits() {
		if open.id == id {
			open.call.OnMessage(msg)
			synctest.Wait()
			return
		}
	}
	w.Fatalf("nobody waits for %s", id)
}

// after lets time pass.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// waits1 is the only request for the end of a task that is open.
func (w *world) waits1() *waiter {
	w.Helper()
	open := w.backend.waits()
	if len(open) != 1 {
		w.Fatalf("%d requests wait, want one", len(open))
	}
	return open[0]
}
