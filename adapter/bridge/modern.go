package bridge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// Backend is a modern backend and how it is treated.
type Backend struct {
	// Name is the {backend} of the routes.
	Name string
	// Back is its client.
	Back port.Back
	// Discover returns what the backend says of itself to a caller; fetch asks
	// it when nothing fresh is known.
	Discover func(ctx context.Context, caller port.Caller, fetch Fetch) (ext2026.DiscoverResult, error)
	// Contradict drops what is known of the backend: it has denied it (G-13).
	Contradict func()
	// Authorization is the Authorization header that a caller's requests carry.
	Authorization func(caller port.Caller) string
	// FallbackName stands for a server that does not say who it is (A-L3).
	FallbackName string

	// SyncGrace is the wait before a slow call is hosted (A-T9), HostedTTL the
	// lifetime of a hosted task if none is asked for (A-T11).
	SyncGrace, HostedTTL time.Duration
	// PageSize is that of tasks/list.
	PageSize int
	// DrivePlain declares the tasks extension on calls without task (A-T12).
	DrivePlain bool
	// ToolErrorsCompleted is the setting tool_errors (Q3).
	ToolErrorsCompleted bool
}

// Fetch asks a backend about itself.
type Fetch func(ctx context.Context) (wire.Value, error)

// Modern reaches modern backends on behalf of legacy callers: it puts every
// request into its envelope. It implements [port.TaskBackend] and
// [port.ChangeSource]. It is safe for concurrent use.
type Modern struct {
	logger   *slog.Logger
	env      env.Env
	backends map[string]*Backend
	tokens   atomic.Int64 // progress tokens, unique for all backends (G-9)

	catalogue *catalogue[modernTool]
}

var (
	_ port.TaskBackend  = (*Modern)(nil)
	_ port.ChangeSource = (*Modern)(nil)
)

// NewModern returns the client side for these backends.
func NewModern(logger *slog.Logger, e env.Env, backends []*Backend) (*Modern, error) {
	tools, err := newCatalogue[modernTool](e)
	if err != nil {
		return nil, err
	}
	m := &Modern{logger: logger, env: e, backends: make(map[string]*Backend, len(backends)), catalogue: tools}
	for _, b := range backends {
		m.backends[b.Name] = b
	}
	return m, nil
}

// Dialect returns how a backend's tasks are shown; see task.Options.
func (m *Modern) Dialect(backend string) port.TaskDialect {
	b := m.backends[backend]
	return modernTasks{toolErrorsCompleted: b != nil && b.ToolErrorsCompleted}
}

// Credential returns the Authorization header that a caller's requests carry to a
// backend.
func (m *Modern) Credential(backend string, caller port.Caller) string {
	if b := m.backends[backend]; b != nil {
		return b.Authorization(caller)
	}
	return ""
}

var errNoBackend = jsonrpc.NewError(jsonrpc.CodeInternal, "no such backend")

func (m *Modern) backend(name string) (*Backend, error) {
	if b := m.backends[name]; b != nil {
		return b, nil
	}
	return nil, errNoBackend
}

// envelope describes a caller to a backend. Asks says that the caller can be asked
// what it has declared (A-C1).
func (m *Modern) envelope(caller port.Caller, tasks, asks bool) (mapping.Envelope, error) {
	if caller.Version == ext2026.Version { // it has said all of that itself
		return mapping.Envelope{ClientInfo: caller.ClientInfo, Capabilities: caller.Capabilities, LogLevel: caller.LogLevel}, nil
	}
	capabilities, _, err := mapping.AppendUpClientCapabilities(nil, caller.Capabilities, caller.Version, mapping.UpCapabilities{Tasks: tasks, Questions: asks})
	if err != nil {
		return mapping.Envelope{}, err
	}
	return mapping.Envelope{
		ClientInfo: caller.ClientInfo, Capabilities: wire.Value(capabilities), LogLevel: caller.LogLevel,
		Version: caller.Version,
	}, nil
}

// exchange sends a client's request once, with the tasks extension declared or
// not, and relays what precedes the answer.
func (m *Modern) exchange(ctx context.Context, b *Backend, x *port.Exchange, tasks bool) (wire.Value, error) {
	return m.begin(b, x, tasks).send(ctx, ext2026.Retry{})
}

// callTool sends a tools/call with the headers that mirror its arguments, once the
// tool is known. A backend that finds them wrong has not run anything (G-6): its tools are listed
// anew, and the call is sent once more.
func (m *Modern) callTool(ctx context.Context, b *Backend, caller port.Caller, call port.Call) (wire.Value, error) {
	name, _ := call.Params.Get("name").Text()
	m.prepare(ctx, b, caller, name)
	var err error
	if call.Headers, err = m.headers(b, caller, call.Params); err != nil {
		return "", err
	}
	result, err := m.send(ctx, b, caller, call)
	if !port.IsCode(err, ext2026.CodeHeaderMismatch) || m.relist(ctx, b, caller) != nil {
		return result, err
	}
	if call.Headers, err = m.headers(b, caller, call.Params); err != nil {
		return "", err
	}
	return m.send(ctx, b, caller, call)
}

// send performs a call with the caller's credential. A refusal that names a reason
// to try again before anything was run gets one more attempt (G-6): a backend that
// denies our version of the protocol, though it lists it, and one to which headers
// and body did not agree; for tools/call see callTool. A backend that does not list
// our version has changed its era.
func (m *Modern) send(ctx context.Context, b *Backend, caller port.Caller, call port.Call) (wire.Value, error) {
	call.Authorization = b.Authorization(caller)
	result, err := b.Back.Do(ctx, call)
	versions, denied := deniedVersion(err)
	switch {
	case denied && !slices.Contains(versions, ext2026.Version):
		b.Contradict()
		return "", err
	case denied, port.IsCode(err, ext2026.CodeHeaderMismatch) && call.Method != ext2026.MethodToolsCall:
		return b.Back.Do(ctx, call)
	default:
		return result, err
	}
}

// deniedVersion returns the versions that a backend speaks, if err says that it
// does not speak ours.
func deniedVersion(err error) ([]string, bool) {
	if !port.IsCode(err, ext2026.CodeUnsupportedVersion) {
		return nil, false
	}
	return ext2026.SupportedVersions(errorData(err)), true
}

// discover returns what a backend says of itself.
func (m *Modern) discover(ctx context.Context, b *Backend, caller port.Caller) (ext2026.DiscoverResult, error) {
	return b.Discover(ctx, caller, func(ctx context.Context) (wire.Value, error) {
		return m.own(ctx, b, caller, ext2026.MethodServerDiscover, func(env mapping.Envelope) ([]byte, error) {
			params, _, err := mapping.AppendUpParams(nil, ext2026.MethodServerDiscover, "", env)
			return params, err
		})
	})
}

// Show shows a caller's credential to a backend, with the cheapest request that there
// is, whatever is known of the backend.
func (m *Modern) Show(ctx context.Context, backend string, caller port.Caller) error {
	b, err := m.backend(backend)
	if err != nil {
		return err
	}
	_, err = m.own(ctx, b, caller, ext2026.MethodServerDiscover, func(env mapping.Envelope) ([]byte, error) {
		params, _, err := mapping.AppendUpParams(nil, ext2026.MethodServerDiscover, "", env)
		return params, err
	})
	return err
}

// own performs a request of the bridge's own on behalf of a caller. The build
// function makes its params with the given envelope.
func (m *Modern) own(ctx context.Context, b *Backend, caller port.Caller, method string, build func(mapping.Envelope) ([]byte, error)) (wire.Value, error) {
	env, err := m.envelope(caller, true, true)
	if err != nil {
		return "", err
	}
	env.LogLevel = "" // nobody reads messages of a request that no client made
	params, err := build(env)
	if err != nil {
		return "", err
	}
	return m.send(ctx, b, caller, port.Call{Method: method, Params: wire.Value(params)})
}

// GetTask implements [port.TaskBackend]. The error is the one to tell a legacy
// client, whoever waits for the task; see [Modern.taskRequest].
func (m *Modern) GetTask(ctx context.Context, backend string, caller port.Caller, taskID string) (wire.Value, error) {
	return m.taskRequest(ctx, backend, caller, ext2026.MethodTasksGet, taskID)
}

// CancelTask implements [port.TaskBackend]. The error is as for GetTask.
func (m *Modern) CancelTask(ctx context.Context, backend string, caller port.Caller, taskID string) error {
	_, err := m.taskRequest(ctx, backend, caller, ext2026.MethodTasksCancel, taskID)
	return err
}

// UpdateTask implements [port.TaskBackend]. The error is as for GetTask.
func (m *Modern) UpdateTask(ctx context.Context, backend string, caller port.Caller, taskID string, answers []port.Answer) error {
	b, err := m.backend(backend)
	if err != nil {
		return err
	}
	_, err = m.own(ctx, b, caller, ext2026.MethodTasksUpdate, func(env mapping.Envelope) ([]byte, error) {
		return mapping.AppendUpUpdateParams(nil, taskID, inputAnswers(answers), env), nil
	})
	return down(ext2026.MethodTasksUpdate, "", err)
}

// errNoTasks stands for the answer of a backend that has no tasks after all, or
// wants more than the extension: it says nothing about the task (A-E5).
var errNoTasks = jsonrpc.NewError(jsonrpc.CodeInternal, "the backend does not serve tasks any more")

// taskRequest asks a backend about a task. Its errors are translated here, since
// they reach everyone who waits for the task, next to the task's own error, which
// must not be translated (A-R1).
func (m *Modern) taskRequest(ctx context.Context, backend string, caller port.Caller, method, taskID string) (wire.Value, error) {
	b, err := m.backend(backend)
	if err != nil {
		return "", err
	}
	result, err := m.own(ctx, b, caller, method, func(env mapping.Envelope) ([]byte, error) {
		params, _, err := mapping.AppendUpTaskParams(nil, "", taskID, env)
		return params, err
	})
	if method == ext2026.MethodTasksGet &&
		(port.IsCode(err, jsonrpc.CodeMethodNotFound) || port.IsCode(err, ext2026.CodeMissingCapability)) {
		b.Contradict()
		return "", errNoTasks
	}
	return result, down(method, "", err)
}

// down translates the error in err, if there is one, for a legacy client (§1.6).
// An HTTP status that came with it stays: the face may have to pass it on (A-L17).
func down(method string, params wire.Value, err error) error {
	var (
		rpc      *jsonrpc.Error
		upstream *port.UpstreamError
	)
	if !errors.As(err, &rpc) {
		return err
	}
	rpc = mapping.DownError(method, params, rpc)
	if errors.As(err, &upstream) {
		kept := *upstream
		kept.Err = rpc
		return &kept
	}
	return rpc
}
