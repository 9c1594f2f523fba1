package bridge

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// Offered implements [port.ChangeSource].
func (m *Modern) Offered(ctx context.Context, backend string, caller port.Caller) (port.ChangeFilter, bool, error) {
	b, err := m.backend(backend)
	if err != nil {
		return port.ChangeFilter{}, false, err
	}
	about, err := m.discover(ctx, b, caller)
	if err != nil {
		return port.ChangeFilter{}, false, err
	}
	offered := mapping.ListenFilter(&about.Capabilities, nil)
	return changeFilter(offered), about.Capabilities.Subscribe(), nil
}

// Listen implements [port.ChangeSource].
func (m *Modern) Listen(ctx context.Context, backend string, caller port.Caller, filter port.ChangeFilter) (port.ChangeStream, error) {
	b, err := m.backend(backend)
	if err != nil {
		return nil, err
	}
	env, err := m.envelope(caller, len(filter.TaskIDs) > 0, true)
	if err != nil {
		return nil, err
	}
	env.LogLevel = ""
	sub, err := b.Back.Listen(ctx, port.Call{
		Method:        ext2026.MethodSubscriptionsListen,
		Params:        wire.Value(mapping.AppendUpListen(nil, subscriptionFilter(filter), env)),
		Authorization: b.Authorization(caller),
	})
	if err != nil {
		return nil, err
	}
	honoured, err := honoured(sub.Acknowledged(), filter)
	if err != nil {
		sub.Close()
		return nil, err
	}
	return &changeStream{sub: sub, honoured: honoured, modern: m, backend: backend}, nil
}

// honoured reads an acknowledgement. One server in the field leaves the filter
// out of it; it is then taken at its word for everything but tasks, which it
// ignores.
func honoured(ack wire.Value, asked port.ChangeFilter) (port.ChangeFilter, error) {
	if !ack.Get("notifications").Present() {
		asked.TaskIDs = nil
		return asked, nil
	}
	parsed, err := ext2026.ParseAcknowledged(ack)
	if err != nil {
		return port.ChangeFilter{}, badAnswer(ext2026.MethodSubscriptionsListen, err)
	}
	return changeFilter(parsed.Filter), nil
}

func changeFilter(f ext2026.SubscriptionFilter) port.ChangeFilter {
	return port.ChangeFilter{
		Tools: f.ToolsListChanged, Prompts: f.PromptsListChanged, Resources: f.ResourcesListChanged,
		URIs: f.ResourceSubscriptions, TaskIDs: f.TaskIDs,
	}
}

func subscriptionFilter(f port.ChangeFilter) ext2026.SubscriptionFilter {
	return ext2026.SubscriptionFilter{
		ToolsListChanged: f.Tools, PromptsListChanged: f.Prompts, ResourcesListChanged: f.Resources,
		ResourceSubscriptions: f.URIs, TaskIDs: f.TaskIDs,
	}
}

// changeStream turns the notifications of a subscription into changes.
type changeStream struct {
	sub      port.Subscription
	honoured port.ChangeFilter
	modern   *Modern
	backend  string
}

// Honoured implements [port.ChangeStream].
func (s *changeStream) Honoured() port.ChangeFilter { return s.honoured }

// Close implements [port.ChangeStream].
func (s *changeStream) Close() { s.sub.Close() }

// Next implements [port.ChangeStream].
func (s *changeStream) Next() (port.Change, error) {
	for {
		msg, err := s.sub.Next()
		if err != nil {
			return port.Change{}, err
		}
		if change, ok := s.change(msg); ok {
			return change, nil
		}
	}
}

// lists pairs the list changes of both eras; they have the same names.
var lists = map[string]string{
	ext2026.NotificationToolsListChanged:     legacy2025.NotificationToolsListChanged,
	ext2026.NotificationPromptsListChanged:   legacy2025.NotificationPromptsListChanged,
	ext2026.NotificationResourcesListChanged: legacy2025.NotificationResourcesListChanged,
}

func (s *changeStream) change(msg jsonrpc.Message) (port.Change, bool) {
	if msg.Method == ext2026.NotificationTasks {
		id, ok := msg.Params.Get("taskId").Text()
		return port.Change{Key: "task/" + id + "/" + string(msg.Params.Get("status")), Task: msg.Params, TaskID: id}, ok
	}
	name, uri := lists[msg.Method], ""
	if msg.Method == ext2026.NotificationResourcesUpdated {
		name = legacy2025.NotificationResourcesUpdated
		// One about no resource would be taken for one that concerns everybody.
		if uri, _ = msg.Params.Get("uri").Text(); uri == "" {
			name = ""
		}
	}
	if name == "" {
		return port.Change{}, false
	}
	if msg.Method == ext2026.NotificationToolsListChanged {
		s.modern.catalogue.changed(s.backend)
	}
	params, _, err := mapping.AppendDownNotification(nil, msg.Method, msg.Params)
	if err != nil {
		s.modern.logger.Warn("notification dropped", "backend", s.backend, "method", msg.Method, "error", port.Reason(err))
		return port.Change{}, false
	}
	return changed(name, uri, wire.Value(params)), true
}

func changed(name, uri string, params wire.Value) port.Change {
	return port.Change{Key: name + " " + uri, URI: uri, Message: jsonrpc.AppendNotification(nil, name, params)}
}

// Synthesize implements [port.ChangeSource].
func (m *Modern) Synthesize(filter port.ChangeFilter) []port.Change {
	var out []port.Change
	for _, list := range []struct {
		wanted bool
		name   string
	}{
		{filter.Tools, legacy2025.NotificationToolsListChanged},
		{filter.Prompts, legacy2025.NotificationPromptsListChanged},
		{filter.Resources, legacy2025.NotificationResourcesListChanged},
	} {
		if list.wanted {
			out = append(out, changed(list.name, "", ""))
		}
	}
	for _, uri := range filter.URIs {
		w := wire.Begin(nil)
		w.Text("uri", uri)
		out = append(out, changed(legacy2025.NotificationResourcesUpdated, uri, wire.Value(w.End())))
	}
	return out
}
