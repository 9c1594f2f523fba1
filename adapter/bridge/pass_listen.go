package bridge

import (
	"context"
	"errors"
	"io"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// listening is a subscription of a modern client, passed on to a modern backend.
type listening struct {
	*passing

	// handles are the client's names of the tasks it listens to, by the backend's:
	// of no other task is it told anything (S-2).
	handles map[string]wire.Value
}

// listen serves subscriptions/listen until the client or the backend ends it.
func (r *passing) listen(ctx context.Context) port.Outcome {
	l := &listening{passing: r, handles: make(map[string]wire.Value)}
	if err := l.openTasks(ctx); err != nil {
		return port.Fail(err)
	}
	sub, err := r.b.Back.Listen(ctx, port.Call{
		Method: r.x.Message.Method, Params: l.params, Authorization: r.b.Authorization(r.x.Caller),
	})
	if err != nil {
		return r.fail(err)
	}
	defer sub.Close()
	stop := context.AfterFunc(ctx, sub.Close)
	defer stop()
	ack := replaced(sub.Acknowledged(), l.sealTasks, "notifications", "taskIds")
	if err := l.send(ext2026.NotificationSubscriptionsAcknowledged, ack); err != nil {
		return port.Fail(err)
	}
	for {
		msg, err := sub.Next()
		if err != nil {
			return l.end(ctx, sub, err)
		}
		if err := l.pass(msg); err != nil {
			return port.Fail(err)
		}
	}
}

// openTasks puts the backend's ids in place of the client's handles. What is none of
// the client's is left out, as anything else that is not honoured (§4.24).
func (l *listening) openTasks(ctx context.Context) error {
	filter, err := ext2026.ParseSubscriptionFilter(l.params.Get("notifications"), "params.notifications")
	if err != nil {
		return err
	}
	own := []byte{'['}
	for _, named := range filter.TaskIDs {
		taskID, err := l.p.handles.Open(ctx, l.b.Name, l.x.Caller, named)
		if port.IsCode(err, jsonrpc.CodeInvalidParams) {
			continue
		}
		if err != nil {
			return err
		}
		if _, twice := l.handles[taskID]; twice {
			continue
		}
		l.handles[taskID] = wire.String(named)
		if len(own) > 1 {
			own = append(own, ',')
		}
		own = wire.AppendString(own, taskID)
	}
	l.params = replaced(l.params, to(wire.Value(append(own, ']'))), "notifications", "taskIds")
	return nil
}

// sealTasks names the tasks of an acknowledgement as the client did.
func (l *listening) sealTasks(acknowledged wire.Value) wire.Value {
	out := []byte{'['}
	for _, element := range acknowledged.Elements() {
		taskID, _ := element.Text()
		named, ok := l.handles[taskID]
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, named...)
	}
	return wire.Value(append(out, ']'))
}

// pass hands a notification on. The error says that there is nobody to hear it.
func (l *listening) pass(msg jsonrpc.Message) error {
	params := msg.Params
	switch msg.Method {
	case ext2026.NotificationTasks:
		taskID, _ := params.Get("taskId").Text()
		named, own := l.handles[taskID]
		if !own {
			return nil
		}
		params = replaced(params, to(named), "taskId")
	case ext2026.NotificationToolsListChanged:
		l.p.modern.catalogue.changed(l.b.Name)
	case ext2026.NotificationProgress, ext2026.NotificationSubscriptionsAcknowledged:
		return nil // no request of this client's is answered here
	}
	return l.send(msg.Method, params)
}

// send tells the client something under the id of its own request.
func (l *listening) send(method string, params wire.Value) error {
	params = withMeta(params, wire.MetaSubscriptionID, l.x.Message.ID)
	return l.x.Stream.Send(jsonrpc.AppendNotification(nil, method, params))
}

// end is the end of a subscription: with the backend's result, with one of the
// bridge's own when that stops, and with an error when the stream was cut.
func (l *listening) end(ctx context.Context, sub port.Subscription, err error) port.Outcome {
	result := wire.Value(`{"resultType":"` + string(ext2026.ResultComplete) + `"}`)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, port.ErrDraining):
	case cause != nil:
		return port.Fail(cause)
	case !errors.Is(err, io.EOF):
		return l.fail(err)
	default:
		if told, ok := sub.(interface{ Result() wire.Value }); ok && told.Result().IsObject() {
			result = told.Result()
		}
	}
	return port.Outcome{Result: withMeta(result, wire.MetaSubscriptionID, l.x.Message.ID)}
}
