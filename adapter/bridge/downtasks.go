package bridge

import (
	"context"
	"net/http"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// errTasks is the answer to a request that needs the tasks extension and does not
// declare it itself (B-T5).
var errTasks = &port.StatusError{Status: http.StatusBadRequest, Err: &jsonrpc.Error{
	Code: ext2026.CodeMissingCapability, Message: "Missing required client capability: " + wire.TasksExtension,
	Data: `{"requiredCapabilities":{"extensions":{"` + wire.TasksExtension + `":{}}}}`,
}}

// task serves tasks/get, tasks/update and tasks/cancel. What the request declares is
// looked at before anything that it says (B-T5).
func (d *Downgrade) task(ctx context.Context, x *port.Exchange) port.Outcome {
	if !x.Caller.Tasks {
		return port.Fail(errTasks)
	}
	handle, err := ext2026.ParseTaskID(x.Message.Params)
	if err != nil {
		return port.Fail(err)
	}
	var out wire.Value
	switch x.Message.Method {
	case ext2026.MethodTasksGet:
		out, err = d.tasks.Get(ctx, x.Backend, x.Caller, handle)
	case ext2026.MethodTasksCancel:
		out, err = d.tasks.Cancel(ctx, x.Backend, x.Caller, handle)
	default:
		out, err = d.updateTask(ctx, x, handle)
	}
	if err != nil {
		return port.Fail(err)
	}
	return port.Outcome{Result: out}
}

func (d *Downgrade) updateTask(ctx context.Context, x *port.Exchange, handle string) (wire.Value, error) {
	params, err := ext2026.ParseUpdateParams(x.Message.Params)
	if err != nil {
		return "", err
	}
	answers := make([]port.Answer, 0, params.Responses.Len())
	for _, m := range params.Responses.Members() {
		answers = append(answers, port.Answer{Key: m.Name, Value: m.Value})
	}
	return d.tasks.Update(ctx, x.Backend, x.Caller, handle, answers)
}

// Lender lends the sessions in which tasks live. It implements [port.SessionLender].
type Lender struct {
	backends map[string]*LegacyBackend
	owners   func(port.Caller) []string
}

var _ port.SessionLender = (*Lender)(nil)

// NewLender returns a lender of the sessions at these backends. Owners is that of
// [DowngradeOptions].
func NewLender(backends []*LegacyBackend, owners func(port.Caller) []string) *Lender {
	l := &Lender{backends: make(map[string]*LegacyBackend, len(backends)), owners: owners}
	for _, b := range backends {
		l.backends[b.Name] = b
	}
	return l
}

// Resume implements [port.SessionLender].
func (l *Lender) Resume(ctx context.Context, backend string, caller port.Caller, place port.Place) (port.LentSession, error) {
	b := l.backends[backend]
	if b == nil {
		return nil, errNoBackend
	}
	o, err := leaseOptions(b, caller, l.owners)
	if err != nil {
		return nil, err
	}
	return b.Resume(ctx, place, o)
}

// Authorization implements [port.SessionLender].
func (l *Lender) Authorization(backend string, caller port.Caller) string {
	if b := l.backends[backend]; b != nil {
		return b.Authorization(caller)
	}
	return ""
}
