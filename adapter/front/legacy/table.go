package legacy

import (
	"context"
	"fmt"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// rule is the special treatment of a method; the zero rule is none.
type rule struct {
	// local answers without the crossing.
	local bool
	// plain methods are answered in a plain body however long it takes (A-T17).
	plain bool
	// outlives is set for calls whose effect a lost connection must not undo:
	// they go on for the replay window (A-L18).
	outlives bool
	// safe methods can be served twice without harm.
	safe bool
	// wait methods only wait, and are ended when the bridge drains.
	wait bool
	// attach methods need the session attached to the changes of its backend, so
	// that its end is told there as well (§3.5 A1, A6).
	attach bool
	// before may refuse the request for what the session holds already.
	before func(s *session, x *port.Exchange) error
	// after changes the session once the crossing has accepted the request.
	after func(f *Face, ctx context.Context, s *session, x *port.Exchange) error
}

// table lists the methods that are treated specially, by name.
var table = map[string]rule{
	legacy2025.MethodPing:                  {local: true, plain: true, safe: true},
	legacy2025.MethodTasksGet:              {plain: true, safe: true},
	legacy2025.MethodTasksList:             {plain: true, safe: true},
	legacy2025.MethodTasksCancel:           {plain: true, outlives: true},
	legacy2025.MethodTasksResult:           {wait: true, safe: true},
	legacy2025.MethodToolsCall:             {outlives: true},
	legacy2025.MethodToolsList:             {safe: true},
	legacy2025.MethodPromptsList:           {safe: true},
	legacy2025.MethodPromptsGet:            {safe: true},
	legacy2025.MethodResourcesList:         {safe: true},
	legacy2025.MethodResourceTemplatesList: {safe: true},
	legacy2025.MethodResourcesRead:         {safe: true},
	legacy2025.MethodCompletionComplete:    {safe: true},
	legacy2025.MethodLoggingSetLevel:       {after: setLevel, safe: true},
	legacy2025.MethodResourcesSubscribe:    {attach: true, before: roomForResource, after: addResource, safe: true},
	legacy2025.MethodResourcesUnsubscribe:  {after: removeResource, safe: true},
}

func setLevel(f *Face, ctx context.Context, s *session, x *port.Exchange) error {
	level, _ := x.Message.Params.Get("level").Text()
	return f.update(ctx, s, func(r *record) { r.LogLevel = level })
}

func roomForResource(s *session, x *port.Exchange) error {
	if uri, _ := x.Message.Params.Get("uri").Text(); s.full(uri) {
		return wire.Wrong("params.uri", fmt.Sprintf("at most %d subscriptions in a session, of %d bytes together", maxResources, maxURIs))
	}
	return nil
}

func addResource(f *Face, ctx context.Context, s *session, x *port.Exchange) error {
	uri, _ := x.Message.Params.Get("uri").Text()
	return f.update(ctx, s, func(r *record) { r.add(uri) })
}

func removeResource(f *Face, ctx context.Context, s *session, x *port.Exchange) error {
	uri, _ := x.Message.Params.Get("uri").Text()
	return f.update(ctx, s, func(r *record) { r.remove(uri) })
}
