package bridge

import (
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// listenDialect implements [port.ListenDialect] for modern clients at legacy
// backends.
type listenDialect struct{}

var _ port.ListenDialect = listenDialect{}

// Offered implements [port.ListenDialect].
func (listenDialect) Offered(about wire.Value) (port.ChangeFilter, bool) {
	all := port.ChangeFilter{Tools: true, Prompts: true, Resources: true}
	if !about.Present() {
		return all, true
	}
	// An answer without capabilities, or with bad ones, declares none.
	server, _ := legacy2025.ParseServerCapabilities(about.Get("capabilities"), "result.capabilities")
	return changeFilter(mapping.HonouredFilter(subscriptionFilter(all), &server)), server.Subscribe()
}

// Subscribe implements [port.ListenDialect].
func (listenDialect) Subscribe(uri string) port.SessionCall {
	return port.SessionCall{Method: legacy2025.MethodResourcesSubscribe, Params: uriParams(uri)}
}

// Unsubscribe implements [port.ListenDialect].
func (listenDialect) Unsubscribe(uri string) port.SessionCall {
	return port.SessionCall{Method: legacy2025.MethodResourcesUnsubscribe, Params: uriParams(uri)}
}

func uriParams(uri string) wire.Value {
	w := wire.Begin(nil)
	w.Text("uri", uri)
	return wire.Value(w.End())
}

// listNotifications are the notifications about lists, which have the same names in
// both eras.
var listNotifications = map[string]port.ChangeList{
	legacy2025.NotificationToolsListChanged:     port.ToolsList,
	legacy2025.NotificationPromptsListChanged:   port.PromptsList,
	legacy2025.NotificationResourcesListChanged: port.ResourcesList,
}

// Notice implements [port.ListenDialect].
func (listenDialect) Notice(msg jsonrpc.Message) (port.Notice, bool) {
	n := port.Notice{Key: msg.Method, List: listNotifications[msg.Method], Message: msg}
	switch {
	case n.List != port.NoList:
		return n, true
	case msg.Method != legacy2025.NotificationResourcesUpdated:
		return n, false
	}
	// One about no resource would concern nobody.
	n.URI, _ = msg.Params.Get("uri").Text()
	n.Key += " " + n.URI
	return n, n.URI != ""
}

// Synthesize implements [port.ListenDialect].
func (d listenDialect) Synthesize(filter port.ChangeFilter) []port.Notice {
	var out []port.Notice
	add := func(method string, params wire.Value) {
		n, _ := d.Notice(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: method, Params: params})
		out = append(out, n)
	}
	for _, method := range [...]string{
		legacy2025.NotificationToolsListChanged, legacy2025.NotificationPromptsListChanged, legacy2025.NotificationResourcesListChanged,
	} {
		if filter.Has(listNotifications[method]) {
			add(method, "")
		}
	}
	for _, uri := range filter.URIs {
		add(legacy2025.NotificationResourcesUpdated, uriParams(uri))
	}
	return out
}

// AppendAcknowledged implements [port.ListenDialect].
func (listenDialect) AppendAcknowledged(dst []byte, honoured port.ChangeFilter, id jsonrpc.ID) []byte {
	params := mapping.AppendUpAcknowledged(nil, subscriptionFilter(honoured), id)
	return jsonrpc.AppendNotification(dst, ext2026.NotificationSubscriptionsAcknowledged, wire.Value(params))
}

// AppendNotice implements [port.ListenDialect].
func (listenDialect) AppendNotice(dst []byte, n port.Notice, id jsonrpc.ID) ([]byte, error) {
	params, _, err := mapping.AppendUpNotification(nil, n.Message.Method, n.Message.Params, id)
	if err != nil {
		return dst, err
	}
	return jsonrpc.AppendNotification(dst, n.Message.Method, wire.Value(params)), nil
}

// Ended implements [port.ListenDialect].
func (listenDialect) Ended(about wire.Value, id jsonrpc.ID) port.Outcome {
	return port.Outcome{Result: wire.Value(mapping.AppendUpListenResult(nil, id, about.Get("serverInfo")))}
}
