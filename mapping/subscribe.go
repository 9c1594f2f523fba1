package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendUpListen appends the params of subscriptions/listen for what a legacy
// session wants to be told.
//
// Spec: 2026-07-28 "Subscriptions". Rules A-U1, §3.5 A. Loss: none.
func AppendUpListen(dst []byte, filter ext2026.SubscriptionFilter, env Envelope) []byte {
	w := wire.Begin(dst)
	w.Name("notifications")
	w.SetBuf(ext2026.AppendSubscriptionFilter(w.Buf(), filter))
	env.Retry = ext2026.Retry{}
	writeEnvelope(&w, &wire.Object{}, env)
	return w.End()
}

// ListenFilter returns what a session with these subscriptions can be told about
// by a server with these capabilities (§3.5 A 1): only what is offered.
func ListenFilter(server *ext2026.ServerCapabilities, resources []string) ext2026.SubscriptionFilter {
	filter := ext2026.SubscriptionFilter{
		ToolsListChanged:     server.ListChanged("tools"),
		PromptsListChanged:   server.ListChanged("prompts"),
		ResourcesListChanged: server.ListChanged("resources"),
	}
	if server.Subscribe() {
		filter.ResourceSubscriptions = resources
	}
	return filter
}

// HonouredFilter returns what of a modern client's filter a legacy server with
// these capabilities can honour (§3.5 B 1). Resources and tasks are left as they
// are: which of them are honoured shows only when they are subscribed to.
func HonouredFilter(want ext2026.SubscriptionFilter, server *legacy2025.ServerCapabilities) ext2026.SubscriptionFilter {
	want.ToolsListChanged = want.ToolsListChanged && server.ListChanged("tools")
	want.PromptsListChanged = want.PromptsListChanged && server.ListChanged("prompts")
	want.ResourcesListChanged = want.ResourcesListChanged && server.ListChanged("resources")
	if !server.Subscribe() {
		want.ResourceSubscriptions = nil
	}
	return want
}

// AppendUpAcknowledged appends the params of
// notifications/subscriptions/acknowledged for the listen request with this id,
// whose JSON type is kept (§3.5 B 2).
func AppendUpAcknowledged(dst []byte, honoured ext2026.SubscriptionFilter, id wire.Value) []byte {
	w := wire.Begin(dst)
	w.Name("notifications")
	w.SetBuf(ext2026.AppendSubscriptionFilter(w.Buf(), honoured))
	writeMeta(&w, Up, &wire.Object{}, metaPlan{subscription: id})
	return w.End()
}

// AppendUpListenResult appends the result with which a subscription ends
// gracefully (§3.5 B 4), for the listen request with this id. ServerInfo is the
// server's Implementation, or absent.
func AppendUpListenResult(dst []byte, id, serverInfo wire.Value) []byte {
	w := wire.Begin(dst)
	w.Text("resultType", string(ext2026.ResultComplete))
	writeMeta(&w, Up, &wire.Object{}, metaPlan{subscription: id, serverInfo: serverInfo})
	return w.End()
}

// AppendDownNotification appends the params of a notification that both eras
// have, for a legacy client: without subscriptionId and the other keys that the
// modern era reserves. Params that end up empty are left out: nothing is
// appended (A11).
//
// Rules §3.5 A 4, §3.6. Loss: none.
func AppendDownNotification(dst []byte, method string, params wire.Value) ([]byte, Notes, error) {
	return appendNotification(dst, Down, method, params, "")
}

// AppendUpNotification appends the params of a notification that both eras have,
// for a modern client. On a listen stream subscription is the id of the listen
// request, with its JSON type (§3.5 B 2, B 3); elsewhere it is absent.
//
// Rules §3.5 B, §3.6. Loss: none.
func AppendUpNotification(dst []byte, method string, params, subscription wire.Value) ([]byte, Notes, error) {
	return appendNotification(dst, Up, method, params, subscription)
}

func appendNotification(dst []byte, dir Dir, method string, params, subscription wire.Value) ([]byte, Notes, error) {
	obj, err := wire.OptionalObject(params, "params")
	if err != nil {
		return dst, 0, malformed(dir, method, err)
	}
	meta, err := wire.OptionalObject(obj.Get("_meta"), "params._meta")
	if err != nil {
		return dst, 0, malformed(dir, method, err)
	}
	w := wire.Begin(dst)
	for _, m := range obj.Members() {
		if m.Name != "_meta" {
			w.Copy(m)
		}
	}
	notes := writeMeta(&w, dir, &meta, metaPlan{subscription: subscription})
	if w.Empty() {
		return dst, notes, nil
	}
	return w.End(), notes, nil
}
