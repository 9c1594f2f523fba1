package bridge

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// heard passes on what the backend says: on the stream of the request that it says
// it in, or, if stream is nil, on one of the session's own.
func (s *passed) heard(ctx context.Context, msg jsonrpc.Message, stream port.Stream) {
	var err error
	switch {
	case msg.Kind == jsonrpc.KindRequest:
		err = s.ask(ctx, msg, stream)
	case isModernOnly(msg.Method):
	case msg.Method == legacy2025.NotificationCancelled:
		s.withdraw(msg)
	case msg.Method == legacy2025.NotificationTasksStatus:
		err = s.status(ctx, msg, stream)
	default:
		err = s.note(ctx, msg, stream)
	}
	if err != nil {
		s.p.o.Logger.WarnContext(ctx, "message of the backend not passed on", "backend", s.b.Name, "method", msg.Method, "error", port.Reason(err))
	}
}

// status tells of a task that has changed, if it is this session's owner's. A backend
// may tell everybody (S-2).
func (s *passed) status(ctx context.Context, msg jsonrpc.Message, stream port.Stream) error {
	taskID, ok := msg.Params.Get("taskId").Text()
	if !ok {
		return nil
	}
	named, found, err := s.p.o.Handles.Find(ctx, s.b.Name, s.caller, taskID)
	if err != nil {
		return err
	}
	if found {
		s.tellStatus(stream, named, msg.Params)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unowned.keep(taskID, msg.Params)
	return nil
}

// note passes any other notification on. One about a task that is not the owner's
// is nobody's here.
func (s *passed) note(ctx context.Context, msg jsonrpc.Message, stream port.Stream) error {
	params, key := msg.Params, ""
	switch msg.Method {
	case legacy2025.NotificationProgress:
		var known bool
		if params, known = s.progress(&s.down, params); !known {
			return nil
		}
		key = msg.Method + " " + string(params.Get(wire.MetaProgressToken))
	case legacy2025.NotificationToolsListChanged, legacy2025.NotificationPromptsListChanged, legacy2025.NotificationResourcesListChanged:
		key = msg.Method
	case legacy2025.NotificationResourcesUpdated:
		key = msg.Method + " " + string(params.Get("uri"))
	}
	if taskID, ok := relatedTask(params).Text(); ok {
		named, found, err := s.p.o.Handles.Find(ctx, s.b.Name, s.caller, taskID)
		if err != nil || !found {
			return err
		}
		params = withRelatedTask(params, wire.String(named))
	}
	s.deliver(stream, key, jsonrpc.AppendNotification(nil, msg.Method, params))
	return nil
}

// notify passes a notification of the client on.
func (s *passed) notify(ctx context.Context, x *port.Exchange) error {
	params := x.Message.Params
	switch x.Message.Method {
	case legacy2025.NotificationCancelled:
		s.cancelCall(params)
		return nil
	case legacy2025.NotificationProgress:
		var known bool
		if params, known = s.progress(&s.up, params); !known {
			return nil
		}
	}
	params, err := s.openRelated(ctx, x.Caller, params)
	if err != nil {
		return err
	}
	return s.session.Notify(ctx, x.Message.Method, params)
}
