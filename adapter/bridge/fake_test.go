package bridge_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// back is a scripted client of a backend.
type back struct {
	mu    sync.Mutex
	calls []port.Call
	do    func(n int, call port.Call) (wire.Value, error)
	sub   *subscription
	// listen is what Listen returns in place of sub.
	listen port.Subscription
	err    error // of Listen
}

// Do implements [port.Back].
func (b *back) Do(_ context.Context, call port.Call) (wire.Value, error) {
	b.mu.Lock()
	b.calls = append(b.calls, call)
	n := len(b.calls)
	b.mu.Unlock()
	if b.do == nil {
		return `{"resultType":"complete"}`, nil
	}
	return b.do(n, call)
}

// Listen implements [port.Back].
func (b *back) Listen(_ context.Context, call port.Call) (port.Subscription, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, call)
	if b.err != nil {
		return nil, b.err
	}
	if b.listen != nil {
		return b.listen, nil
	}
	return b.sub, nil
}

// subscription is a scripted [port.Subscription].
type subscription struct {
	ack    wire.Value
	notes  []jsonrpc.Message
	closed atomic.Bool
}

// Acknowledged implements [port.Subscription].
func (s *subscription) Acknowledged() wire.Value { return s.ack }

// Next implements [port.Subscription].
func (s *subscription) Next() (jsonrpc.Message, error) {
	if len(s.notes) == 0 {
		return jsonrpc.Message{}, io.EOF
	}
	next := s.notes[0]
	s.notes = s.notes[1:]
	return next, nil
}

// Close implements [port.Subscription].
func (s *subscription) Close() { s.closed.Store(true) }

// rig is a crossing in front of one scripted backend.
type rig struct {
	back         *back
	modern       *bridge.Modern
	upgrade      *bridge.Upgrade
	backend      *bridge.Backend
	keys         *seal.Keys
	process      *replica.Replica
	desk         *ask.Desk
	contradicted int
	capabilities wire.Value // of the backend
	discoverErr  error
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{back: &back{}, capabilities: `{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},"extensions":{"` + wire.TasksExtension + `":{}}}`}
	r.backend = &bridge.Backend{
		Name: "quarry", Back: r.back, FallbackName: "quarry", PageSize: 50,
		Authorization: func(caller port.Caller) string { return caller.Authorization },
		Contradict:    func() { r.contradicted++ },
		Discover: func(_ context.Context, _ port.Caller, _ bridge.Fetch) (ext2026.DiscoverResult, error) {
			if r.discoverErr != nil {
				return ext2026.DiscoverResult{}, r.discoverErr
			}
			return ext2026.ParseDiscoverResult(`{"supportedVersions":["2026-07-28"],"capabilities":` + r.capabilities + `,"ttlMs":0,"cacheScope":"private"}`)
		},
	}
	var err error
	if r.modern, err = bridge.NewModern(slog.New(slog.DiscardHandler), env.System(), []*bridge.Backend{r.backend}); err != nil {
		t.Fatal(err)
	}
	if r.keys, err = seal.New([][]byte{[]byte("0123456789abcdef")}, env.System().Random()); err != nil {
		t.Fatal(err)
	}
	if r.process, err = replica.New(t.Context(), replica.Options{Keys: r.keys, Env: env.System(), Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	if r.desk, err = ask.NewDesk(env.System(), r.process); err != nil {
		t.Fatal(err)
	}
	r.cross(t, nil)
	r.listed(t, `{"resultType":"complete","tools":[]}`)
	return r
}

// cross makes the crossing.
func (r *rig) cross(t *testing.T, tasks *task.Manager) {
	t.Helper()
	var err error
	if r.upgrade, err = bridge.NewUpgrade(bridge.UpgradeOptions{
		Modern: r.modern, Tasks: tasks, Desk: r.desk, Env: env.System(), Times: bridge.Times{Answer: time.Minute, CallTotal: time.Hour},
	}); err != nil {
		t.Fatal(err)
	}
}

// newRigWithTasks has a manager of tasks, too. Use it in a bubble of fake time.
func newRigWithTasks(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := task.New(task.Options{
		Store: store, Process: r.process, Keys: r.keys, Env: env.System(), Backend: r.modern, Dialect: r.modern.Dialect, Desk: r.desk,
		Resume: func(ctx context.Context, backend string, caller port.Caller, call task.Resumption) task.Ending {
			return r.upgrade.Resume(ctx, backend, caller, call)
		},
		Logger: slog.New(slog.DiscardHandler),
		Times: task.Times{
			PollFloor: 100 * time.Millisecond, PollDefault: time.Second, PollCeiling: 30 * time.Second, HostedPoll: time.Second,
			ZeroTTL: time.Minute, MaxTTL: time.Hour, ListRetention: time.Hour, CallTotal: time.Hour,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(tasks.Close(context.WithoutCancel(t.Context())), store.Close()); err != nil {
			t.Error(err)
		}
	})
	r.cross(t, tasks)
	return r
}

// listed makes the caller list the backend's tools, and forgets that it did.
func (r *rig) listed(t *testing.T, page wire.Value) {
	t.Helper()
	do := r.back.do
	r.back.do = func(int, port.Call) (wire.Value, error) { return page, nil }
	for _, credential := range []string{legacyCaller.Authorization, answerer.Authorization} {
		x, _ := exchange("tools/list", "")
		x.Caller.Authorization = credential
		if out := r.upgrade.Request(t.Context(), x); out.Err != nil {
			t.Fatal(out.Err)
		}
	}
	r.back.do, r.back.calls = do, nil
}

// changeTools makes the backend announce that its tools have changed.
func (r *rig) changeTools(t *testing.T) {
	t.Helper()
	r.back.sub = &subscription{
		ack:   `{"notifications":{"toolsListChanged":true}}`,
		notes: []jsonrpc.Message{{Kind: jsonrpc.KindNotification, Method: "notifications/tools/list_changed"}},
	}
	stream, err := r.modern.Listen(t.Context(), "quarry", legacyCaller, port.ChangeFilter{Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := stream.Next(); err != nil {
		t.Fatal(err)
	}
}

// legacyCaller is a client of 2025-11-25 that was offered tasks.
var legacyCaller = port.Caller{
	Session: "s", Principal: "p", Version: "2025-11-25", Tasks: true, Authorization: "Bearer a",
	ClientInfo: `{"name":"orbit","version":"1"}`, Capabilities: `{"elicitation":{"url":{}},"roots":{}}`,
}

// exchange returns a request of the caller, and what is sent ahead of its answer.
func exchange(method string, params wire.Value) (*port.Exchange, *[]string) {
	var sent []string
	return &port.Exchange{
		Backend: "quarry", Caller: legacyCaller,
		Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: method, Params: params},
		Stream:  &stream{sent: &sent},
		Push:    func(string, []byte) {},
	}, &sent
}

// stream is a client's, which keeps what is sent.
type stream struct {
	sent   *[]string
	broken error
	ids    int64
}

func (s *stream) Asks() bool            { return true }
func (s *stream) Connected() bool       { return s.broken == nil }
func (s *stream) Gone() <-chan struct{} { return nil }

func (s *stream) Send(msg []byte) error {
	if s.broken == nil {
		*s.sent = append(*s.sent, string(msg))
	}
	return s.broken
}

func (s *stream) NewID(context.Context) (jsonrpc.ID, error) {
	s.ids++
	return jsonrpc.IntID(s.ids), nil
}

func (r *rig) request(t *testing.T, method string, params wire.Value) port.Outcome {
	t.Helper()
	x, _ := exchange(method, params)
	return r.upgrade.Request(t.Context(), x)
}
