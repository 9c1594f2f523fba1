package task_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	second = time.Second
	minute = time.Minute
	hour   = time.Hour
)

var (
	alice = port.Caller{Session: "sa", Principal: "alice", Authorization: "Bearer a"}
	bob   = port.Caller{Session: "sb", Principal: "bob", Authorization: "Bearer b"}

	errNoTask  = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Task not found")
	errOutage  = &port.UpstreamError{Op: "tasks/get", Err: errors.New("connection refused")}
	errMethod  = jsonrpc.NewError(jsonrpc.CodeMethodNotFound, "Method not found")
	errInvalid = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "bad arguments")
)

const backendName = "b1"

// poll is one request that a backend got.
type poll struct {
	id, authorization string
	at                time.Time
}

// backend is a [port.TaskBackend] with scripted tasks.
type backend struct {
	mu                    sync.Mutex
	docs                  map[string]doc
	gets, cancels         []poll
	active, most          int // requests at the same time
	getDelay, cancelDelay time.Duration
	getErr, cancelErr     error
	raw                   wire.Value // answers tasks/get instead of a document
	keep                  bool       // tasks/cancel is acknowledged and ignored
	onCancel              func()     // runs before a task is cancelled
	updates               []update
	updateDelay           time.Duration
	updateErr             error
	onUpdate              func([]port.Answer) // runs before an update is answered
}

func (b *backend) put(d doc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.docs[d.ID] = d
}

func (b *backend) drop(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.docs, id)
}

// set changes the backend's behaviour.
func (b *backend) set(f func(b *backend)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(b)
}

func (b *backend) asked() (gets, cancels int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.gets), len(b.cancels)
}

func (b *backend) begin(list *[]poll, caller port.Caller, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, poll{id, caller.Authorization, time.Now()})
	b.active++
	b.most = max(b.most, b.active)
}

func (b *backend) wait(ctx context.Context, op string, delay time.Duration) error {
	defer b.set(func(b *backend) { b.active-- })
	if delay == 0 && ctx.Err() == nil {
		return nil
	}
	if env.Sleep(ctx, env.System(), delay) != nil {
		return &port.UpstreamError{Op: op, Sent: true, Err: errors.New("request aborted")}
	}
	return nil
}

func (b *backend) GetTask(ctx context.Context, _ string, caller port.Caller, id string) (wire.Value, error) {
	b.begin(&b.gets, caller, id)
	b.mu.Lock()
	delay := b.getDelay
	b.mu.Unlock()
	if err := b.wait(ctx, "tasks/get", delay); err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d, known := b.docs[id]
	switch {
	case b.getErr != nil:
		return "", b.getErr
	case b.raw != "":
		return b.raw, nil
	case !known:
		return "", errNoTask
	}
	d.Updated = time.Now().UnixMilli() // as one real server does on every poll
	return d.value(), nil
}

func (b *backend) CancelTask(ctx context.Context, _ string, caller port.Caller, id string) error {
	b.begin(&b.cancels, caller, id)
	b.mu.Lock()
	delay, hook := b.cancelDelay, b.onCancel
	b.mu.Unlock()
	if err := b.wait(ctx, "tasks/cancel", delay); err != nil {
		return err
	}
	if hook != nil {
		hook()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancelErr != nil {
		return b.cancelErr
	}
	if d, known := b.docs[id]; known && !b.keep && !d.Status.Terminal() {
		d.Status = port.TaskCancelled
		b.docs[id] = d
	}
	return nil
}

// faulty is what one process sees of a store, and can be made to fail.
type faulty struct {
	state.Store
	mu     sync.Mutex
	dead   bool                                              // the process has been killed
	put    func(ctx context.Context, rec state.Record) error // before a write
	lost   func(rec state.Record) error                      // after a write
	get    func(ctx context.Context, key string) error
	renew  func() error
	lease  func() error // before a lease is taken
	writes int
	bodies map[string]time.Time // expiry, by key, of documents outside their record
}

// body reports whether a key is that of a document outside its record.
func body(key string) bool { return strings.Count(key, "/") == 2 && strings.HasPrefix(key, "task/") }

var errDead = errors.New("the process is dead")

func (f *faulty) set(change func(f *faulty)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// hooks returns a copy of the settings, or an error for a dead process.
func (f *faulty) hooks() (*faulty, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return nil, errDead
	}
	return &faulty{put: f.put, lost: f.lost, get: f.get, renew: f.renew, lease: f.lease}, nil
}

func (f *faulty) Put(ctx context.Context, rec state.Record, cond state.Cond) (state.Rev, error) {
	h, err := f.hooks()
	if err == nil && h.put != nil {
		err = h.put(ctx, rec)
	}
	if err != nil {
		return 0, err
	}
	rev, err := f.Store.Put(ctx, rec, cond)
	f.set(func(f *faulty) {
		f.writes++
		if body(rec.Key) {
			f.bodies[rec.Key] = rec.Expires
		}
	})
	if err == nil && h.lost != nil {
		err = h.lost(rec)
	}
	return rev, err
}

func (f *faulty) Get(ctx context.Context, key string) (state.Record, error) {
	h, err := f.hooks()
	if err == nil && h.get != nil {
		err = h.get(ctx, key)
	}
	if err != nil {
		return state.Record{}, err
	}
	return f.Store.Get(ctx, key)
}

func (f *faulty) Delete(ctx context.Context, key string, cond state.Cond) error {
	if _, err := f.hooks(); err != nil {
		return err
	}
	f.set(func(f *faulty) { delete(f.bodies, key) })
	return f.Store.Delete(ctx, key, cond)
}

func (f *faulty) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (state.Lease, error) {
	h, err := f.hooks()
	if err == nil && h.lease != nil {
		err = h.lease()
	}
	if err != nil {
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
	h, err := l.f.hooks()
	if err == nil && h.renew != nil {
		err = h.renew()
	}
	if err != nil {
		return err
	}
	return l.Lease.Renew(ctx, ttl)
}

func (l faultyLease) Release(ctx context.Context) error {
	if _, err := l.f.hooks(); err != nil {
		return err
	}
	return l.Lease.Release(ctx)
}

func (b *backend) UpdateTask(ctx context.Context, _ string, caller port.Caller, id string, answers []port.Answer) error {
	b.mu.Lock()
	delay, hook, err := b.updateDelay, b.onUpdate, b.updateErr
	b.updates = append(b.updates, update{id, caller.Authorization, answers})
	b.mu.Unlock()
	if delay > 0 && env.Sleep(ctx, env.System(), delay) != nil {
		return &port.UpstreamError{Op: "tasks/update", Sent: true, Err: errors.New("request aborted")}
	}
	if hook != nil {
		hook(answers)
	}
	return err
}

// update is what a backend was told of answers.
type update struct {
	id, authorization string
	answers           []port.Answer
}

// world is a manager with everything around it, in a bubble of fake time.
type world struct {
	*testing.T
	*task.Manager
	store   *faulty
	backend *backend
	keys    *seal.Keys
	desk    *ask.Desk // of the newest manager
	times   task.Times
	logged  *lockedBuffer
	// onStatus runs while a notification is rendered, unless nil.
	onStatus func(d doc)
	// onResume goes on with a hosted call.
	onResume func(ctx context.Context, caller port.Caller, saved string, answers []port.Answer) task.Ending

	mu       sync.Mutex
	statuses []face   // by OnStatus
	owners   []string // of the statuses
	live     []string // by OnTask: +id, -id

	processes map[*task.Manager]*replica.Replica
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func watchStore(store state.Store) *faulty {
	return &faulty{Store: store, bodies: make(map[string]time.Time)}
}

func openStore(t *testing.T) *faulty {
	t.Helper()
	store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	return watchStore(store)
}

// bubble runs a test with a manager in fake time.
func bubble(t *testing.T, f func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys, err := seal.New([][]byte{[]byte("0123456789abcdef")}, env.System().Random())
		if err != nil {
			t.Fatal(err)
		}
		w := &world{
			processes: make(map[*task.Manager]*replica.Replica),
			T:         t, store: openStore(t), keys: keys, logged: new(lockedBuffer),
			backend: &backend{docs: make(map[string]doc)},
			times: task.Times{
				PollFloor: 100 * time.Millisecond, PollDefault: second, PollCeiling: 30 * second, HostedPoll: second,
				ZeroTTL: minute, MaxTTL: 2 * hour, ListRetention: hour, CallTotal: hour,
			},
		}
		w.start()
		defer func() {
			w.stop()
			if err := w.store.Close(); err != nil {
				t.Errorf("close the store: %v", err)
			}
		}()
		f(w)
	})
}

// start makes a manager, as a process does that starts.
func (w *world) start() {
	w.Helper()
	w.Manager = w.another()
}

// another returns one more manager on the same store: another replica.
func (w *world) another() *task.Manager {
	w.Helper()
	process, err := replica.New(context.WithoutCancel(w.Context()), replica.Options{
		Store: w.store.Store, Keys: w.keys, Env: env.System(), Logger: slog.New(slog.NewTextHandler(w.logged, nil)), Shared: true,
	})
	if err != nil {
		w.Fatal(err)
	}
	desk, err := ask.NewDesk(env.System(), process)
	if err != nil {
		w.Fatal(err)
	}
	m, err := task.New(task.Options{
		Desk: desk,
		Resume: func(ctx context.Context, _ string, caller port.Caller, call task.Resumption) task.Ending {
			return w.onResume(ctx, caller, string(call.Saved), call.Answers)
		},
		Store: w.store, Process: process, Keys: w.keys, Env: env.System(), Backend: w.backend,
		Dialect: func(string) port.TaskDialect { return dialect{w.onStatus} },
		Logger:  slog.New(slog.NewTextHandler(w.logged, nil)), Times: w.times,
		OnStatus: func(_, owner, handle string, note []byte) {
			var f face
			if err := json.Unmarshal(note, &f); err != nil || f.ID != handle {
				w.Errorf("notification %s for %s: %v", note, handle, err)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.statuses = append(w.statuses, f)
			w.owners = append(w.owners, owner)
		},
		OnTask: func(_ string, _ port.Caller, id string, live bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.live = append(w.live, map[bool]string{true: "+", false: "-"}[live]+id)
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.desk = desk
	w.processes[m] = process
	return m
}

// Get serves tasks/get to a session without a stream of its own.
func (w *world) Get(ctx context.Context, backend string, caller port.Caller, handle string) (wire.Value, error) {
	return w.Manager.Get(ctx, backend, caller, handle, nil)
}

// Result serves tasks/result to a client that cannot be asked there.
func (w *world) Result(ctx context.Context, backend string, caller port.Caller, handle string) port.Outcome {
	return w.Manager.Result(ctx, backend, caller, handle, nil)
}

// Drive follows a task whose client cannot be asked.
func (w *world) Drive(ctx context.Context, backend string, caller port.Caller, seed wire.Value) (wire.Value, error) {
	return w.Manager.Drive(ctx, task.Driven{
		Backend: backend, Caller: caller, Seed: seed, OnState: func(wire.Value) {}, Questions: w.desk.Call(dialect{}, caller, nil),
	})
}

// crash kills the process: it says nothing more to the store. Another one starts.
func (w *world) crash() {
	w.Helper()
	w.store.set(func(f *faulty) { f.dead = true })
	w.stop()
	w.store = watchStore(w.store.Store)
	w.start()
}

// asleep lets time pass without a process.
func (w *world) asleep(d time.Duration) {
	w.Helper()
	began := time.Now()
	w.stop() // which takes a moment
	after(d - time.Since(began))
	w.start()
}

// stop closes the manager, which must leave nothing behind.
func (w *world) stop() {
	w.Helper()
	w.close(w.Manager)
}

func (w *world) close(m *task.Manager) {
	w.Helper()
	ctx := context.WithoutCancel(w.Context())
	if err := m.Close(ctx); err != nil {
		w.Errorf("Close: %v", err)
	}
	hurried, cancel := context.WithCancel(ctx)
	cancel()
	_ = w.processes[m].Close(hurried) // one that has died says nothing
}

func (w *world) told() []port.TaskStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []port.TaskStatus
	for _, f := range w.statuses {
		out = append(out, f.Status)
	}
	return out
}

func (w *world) liveness() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.live)
}

// call returns a request for a call that ends after a while.
func call(after time.Duration, end task.Ending) task.Request {
	return task.Request{
		Backend: backendName, Caller: alice, TTL: hour, Grace: 3 * second,
		Call: func(ctx context.Context) task.Ending {
			if err := env.Sleep(ctx, env.System(), after); err != nil {
				return task.Ending{Err: &port.UpstreamError{Op: "tools/call", Sent: true, Err: err}}
			}
			return end
		},
	}
}

func (w *world) create(q task.Request) face {
	w.Helper()
	out, err := w.Create(w.Context(), q)
	if err != nil {
		w.Fatalf("Create: %v", err)
	}
	return created(w.T, out)
}

func created(t *testing.T, out wire.Value) face {
	t.Helper()
	return parseFace(t, out.Get("task"))
}

func parseFace(t *testing.T, v wire.Value) face {
	t.Helper()
	var f face
	if err := json.Unmarshal([]byte(v), &f); err != nil {
		t.Fatalf("task %q: %v", v, err)
	}
	return f
}

// proxied creates a task of the backend, at work for an hour, and returns its
// handle.
func (w *world) proxied(id string) string {
	w.Helper()
	d := doc{ID: id, Status: port.TaskWorking, Created: time.Now().UnixMilli(), TTL: ttl(hour), Poll: 1000}
	w.backend.put(d)
	return w.create(call(0, task.Ending{Seed: d.value()})).ID
}

// now sets the status of a task at the backend.
func (w *world) now(id string, status port.TaskStatus) {
	w.backend.set(func(b *backend) {
		d := b.docs[id]
		d.Status = status
		if status == port.TaskCompleted {
			d.Result = json.RawMessage(`{"content":[]}`)
		}
		b.docs[id] = d
	})
}

func (w *world) get(handle string) face {
	w.Helper()
	out, err := w.Get(w.Context(), backendName, alice, handle)
	if err != nil {
		w.Fatalf("Get: %v", err)
	}
	return parseFace(w.T, out)
}

func (w *world) getErr(handle string) error {
	w.Helper()
	out, err := w.Get(w.Context(), backendName, alice, handle)
	if err == nil {
		w.Fatalf("Get: %s, want an error", out)
	}
	return err
}

func (w *world) wantStatus(handle string, want port.TaskStatus) {
	w.Helper()
	if got := w.get(handle).Status; got != want {
		w.Errorf("status %q, want %q", got, want)
	}
}

func (w *world) wantCode(err error, want int64) {
	w.Helper()
	if got := port.RPCError(err); got.Code != want {
		w.Errorf("error %v, want code %d", err, want)
	}
}

// waiting starts a tasks/result and returns where its outcome will be.
func (w *world) waiting(ctx context.Context, handle string) <-chan port.Outcome {
	out := make(chan port.Outcome, 1)
	go func() { out <- w.Result(ctx, backendName, alice, handle) }()
	synctest.Wait()
	return out
}

// pending reports whether nothing has come yet.
func pending[T any](ch <-chan T) bool {
	synctest.Wait()
	return len(ch) == 0
}

// after lets time pass.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
