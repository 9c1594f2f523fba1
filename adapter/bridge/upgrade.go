package bridge

import (
	"context"
	"errors"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/adapter/watch"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// Upgrade is the crossing from the legacy face to modern backends (direction A).
// It is safe for concurrent use.
type Upgrade struct {
	modern *Modern
	tasks  *task.Manager
	watch  *watch.Watcher
	desk   *ask.Desk
	env    env.Env
	times  Times
	// insisting holds backend and tool of calls that need the tasks extension
	// declared (A-T15).
	insisting *lru.Cache[toolKey, struct{}]
}

var _ port.Crossing = (*Upgrade)(nil)

type toolKey struct{ backend, tool string }

const insistingSize = 4096

// UpgradeOptions are what an [Upgrade] works with; all members are required.
type UpgradeOptions struct {
	Modern *Modern
	Tasks  *task.Manager
	Watch  *watch.Watcher
	Desk   *ask.Desk
	Env    env.Env
	Times  Times
}

// Times bound the waits of a call (configuration key times).
type Times struct {
	// Answer is how long a client may take to answer a plain call's questions
	// (A-M2).
	Answer time.Duration
	// CallTotal is the hard cap of a call with all its repetitions (A-M4, G-8).
	CallTotal time.Duration
}

// NewUpgrade returns the crossing.
func NewUpgrade(o UpgradeOptions) (*Upgrade, error) {
	insisting, err := lru.New[toolKey, struct{}](insistingSize)
	if err != nil {
		return nil, err
	}
	return &Upgrade{
		modern: o.Modern, tasks: o.Tasks, watch: o.Watch, desk: o.Desk, env: o.Env, times: o.Times, insisting: insisting,
	}, nil
}

// handler serves the requests of one method.
type handler func(u *Upgrade, ctx context.Context, b *Backend, x *port.Exchange) port.Outcome

// handlers lists the methods that are not simply forwarded. A method that is
// missing here is: also one that nobody has heard of, since a vendor may have
// (§1.3).
var handlers = map[string]handler{
	legacy2025.MethodInitialize:            (*Upgrade).initialize,
	legacy2025.MethodToolsList:             (*Upgrade).listTools,
	legacy2025.MethodToolsCall:             (*Upgrade).call,
	legacy2025.MethodTasksGet:              (*Upgrade).getTask,
	legacy2025.MethodTasksResult:           (*Upgrade).taskResult,
	legacy2025.MethodTasksCancel:           (*Upgrade).cancelTask,
	legacy2025.MethodTasksList:             (*Upgrade).listTasks,
	legacy2025.MethodLoggingSetLevel:       (*Upgrade).setLevel,
	legacy2025.MethodResourcesSubscribe:    (*Upgrade).subscribe,
	legacy2025.MethodResourcesUnsubscribe:  (*Upgrade).unsubscribe,
	ext2026.MethodServerDiscover:           (*Upgrade).refuse,
	ext2026.MethodSubscriptionsListen:      (*Upgrade).refuse,
	ext2026.MethodTasksUpdate:              (*Upgrade).refuse,
	legacy2025.MethodElicitationCreate:     (*Upgrade).refuse, // servers ask, clients answer
	legacy2025.MethodSamplingCreateMessage: (*Upgrade).refuse,
	legacy2025.MethodRootsList:             (*Upgrade).refuse,
}

var errMethod = jsonrpc.NewError(jsonrpc.CodeMethodNotFound, "Method not found")

// Request implements [port.Crossing].
func (u *Upgrade) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	b, err := u.modern.backend(x.Backend)
	if err != nil {
		return port.Fail(err)
	}
	if h := handlers[x.Message.Method]; h != nil {
		return h(u, ctx, b, x)
	}
	if strings.HasPrefix(x.Message.Method, "notifications/") {
		return u.refuse(ctx, b, x) // no request of either era is called so
	}
	return u.forward(ctx, b, x)
}

// Notification implements [port.Crossing]. A modern server takes no
// notifications over HTTP: what the face has not consumed ends here (§1.3).
func (u *Upgrade) Notification(context.Context, *port.Exchange) {}

// Answer implements [port.Crossing]. A plain call waits for the answer in this
// process; a task's is found in the store.
func (u *Upgrade) Answer(ctx context.Context, x *port.Exchange) error {
	if u.desk.Deliver(x.Caller, x.Message) {
		return nil
	}
	return u.tasks.Answer(ctx, x.Backend, x.Caller, x.Message)
}

// Attach implements [port.Crossing].
func (u *Upgrade) Attach(sub port.Subscriber) func() { return u.watch.Attach(sub) }

// EndSession implements [port.Crossing].
func (u *Upgrade) EndSession(ctx context.Context, backend string, caller port.Caller) {
	u.tasks.EndOwner(ctx, backend, caller)
}

func (u *Upgrade) refuse(context.Context, *Backend, *port.Exchange) port.Outcome {
	return port.Fail(errMethod)
}

// initialize answers from what the backend says of itself (A-L1).
func (u *Upgrade) initialize(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	about, err := u.modern.discover(ctx, b, x.Caller)
	if err != nil {
		return u.fail(x, err)
	}
	out, _, err := mapping.AppendDownInitialize(nil, about, mapping.InitializeOptions{
		Version: x.Caller.Version, FallbackName: b.FallbackName, CanListen: true, Tasks: true,
	})
	return done(out, err)
}

// forward passes a request on, with what it takes to answer the server's questions,
// and its answer back.
func (u *Upgrade) forward(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	a, err := u.complete(ctx, u.modern.begin(b, x, b.DrivePlain))
	if err != nil {
		return u.fail(x, err)
	}
	out, _, err := mapping.AppendDownResult(nil, x.Message.Method, a.result, mapping.ResultOptions{
		Version: x.Caller.Version, Tasks: x.Caller.Tasks,
	})
	return done(out, err)
}

// listTools passes a page of tools on and remembers what calls will need.
func (u *Upgrade) listTools(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	raw, err := u.modern.exchange(ctx, b, x, b.DrivePlain)
	if err != nil {
		return u.fail(x, err)
	}
	page, err := mapping.ReadDownResult(ext2026.MethodToolsList, raw)
	if err != nil {
		return port.Fail(err)
	}
	out, facts, _, err := mapping.AppendDownToolsList(nil, page, mapping.ResultOptions{
		Version: x.Caller.Version, Tasks: x.Caller.Tasks,
	})
	if err == nil {
		u.modern.learn(b, x.Caller, x.Message.Params, page, facts)
	}
	return done(out, err)
}

// setLevel answers logging/setLevel; the face keeps the level (§1.3).
func (u *Upgrade) setLevel(ctx context.Context, b *Backend, x *port.Exchange) port.Outcome {
	about, err := u.modern.discover(ctx, b, x.Caller)
	if err != nil {
		return u.fail(x, err)
	}
	if !about.Capabilities.Declares("logging") {
		return port.Fail(errMethod)
	}
	if _, err := legacy2025.ParseSetLevelParams(x.Message.Params); err != nil {
		return port.Fail(err)
	}
	return port.Outcome{Result: "{}"}
}

func (u *Upgrade) subscribe(ctx context.Context, _ *Backend, x *port.Exchange) port.Outcome {
	params, err := legacy2025.ParseResourceParams(x.Message.Params)
	if err == nil {
		err = u.watch.Subscribe(ctx, subscriber(x), params.URI)
	}
	if err != nil {
		return u.fail(x, err)
	}
	return port.Outcome{Result: "{}"}
}

func (u *Upgrade) unsubscribe(_ context.Context, _ *Backend, x *port.Exchange) port.Outcome {
	params, err := legacy2025.ParseResourceParams(x.Message.Params)
	if err != nil {
		return port.Fail(err)
	}
	u.watch.Unsubscribe(subscriber(x), params.URI)
	return port.Outcome{Result: "{}"}
}

func subscriber(x *port.Exchange) port.Subscriber {
	return port.Subscriber{Backend: x.Backend, Caller: x.Caller, Push: x.Push}
}

// fail ends an exchange with an error as the legacy face tells it (§1.6). The URLs
// that a backend wants visited first are the client's to see, if it can. A question
// without an answer ends the call, not the protocol.
func (u *Upgrade) fail(x *port.Exchange, err error) port.Outcome {
	var (
		rpc     *jsonrpc.Error
		refusal *ask.RefusalError
	)
	if errors.As(err, &refusal) {
		return unanswered(x, refusal)
	}
	if errors.As(err, &rpc) && mapping.URLElicitationPasses(rpc, x.Caller.Capabilities, x.Caller.Version) {
		return port.Fail(rpc)
	}
	return port.Fail(down(x.Message.Method, x.Message.Params, err))
}

// badAnswer says that a backend's answer to method is not what it must be.
func badAnswer(method string, err error) error {
	var decode *wire.DecodeError
	path := "result"
	if errors.As(err, &decode) {
		path = decode.Path
	}
	return &mapping.Error{Dir: mapping.Down, Method: method, Path: path, Err: err}
}

func done(result []byte, err error) port.Outcome {
	if err != nil {
		return port.Fail(err)
	}
	return port.Outcome{Result: wire.Value(result)}
}

func errorData(err error) wire.Value {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return rpc.Data
	}
	return ""
}
