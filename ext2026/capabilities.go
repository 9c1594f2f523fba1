package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// ServerCapabilities is a view of a server's capabilities. A capability is
// declared by an object; null counts as not declared.
type ServerCapabilities struct{ wire.Object }

// ParseServerCapabilities reads a server's capabilities. Duplicate names are
// refused at every level that has a meaning. The error is a
// *[wire.DecodeError] below path.
func ParseServerCapabilities(v wire.Value, path string) (ServerCapabilities, error) {
	obj, err := parseCapabilities(v, path, serverCapability)
	return ServerCapabilities{obj}, err
}

func serverCapability(name string) bool {
	switch name {
	case "tools", "prompts", "resources", "completions", "logging", "experimental", "extensions":
		return true
	default:
		return false
	}
}

// Declares reports whether the capability called name is declared.
func (c *ServerCapabilities) Declares(name string) bool { return c.Get(name).IsObject() }

// ListChanged reports whether the server tells about changes of the list called
// kind: tools, prompts or resources.
func (c *ServerCapabilities) ListChanged(kind string) bool {
	return c.Get(kind).Get("listChanged") == "true"
}

// Subscribe reports whether resources can be subscribed to.
func (c *ServerCapabilities) Subscribe() bool { return c.Get("resources").Get("subscribe") == "true" }

// Tasks reports whether the tasks extension is declared: by any object (§2.1).
func (c *ServerCapabilities) Tasks() bool {
	return c.Get("extensions").Get(wire.TasksExtension).IsObject()
}

// ClientCapabilities is a view of a client's capabilities. A capability is
// declared by an object; null counts as not declared.
type ClientCapabilities struct{ wire.Object }

// ParseClientCapabilities reads a client's capabilities; see
// [ParseServerCapabilities].
func ParseClientCapabilities(v wire.Value, path string) (ClientCapabilities, error) {
	obj, err := parseCapabilities(v, path, clientCapability)
	return ClientCapabilities{obj}, err
}

func clientCapability(name string) bool {
	switch name {
	case "elicitation", "sampling", "roots", "experimental", "extensions":
		return true
	default:
		return false
	}
}

// Declares reports whether the capability called name is declared.
func (c *ClientCapabilities) Declares(name string) bool { return c.Get(name).IsObject() }

// Tasks reports whether the tasks extension is declared: by any object.
func (c *ClientCapabilities) Tasks() bool {
	return c.Get("extensions").Get(wire.TasksExtension).IsObject()
}

func parseCapabilities(v wire.Value, path string, known func(string) bool) (wire.Object, error) {
	obj, err := wire.ParseObject(v, path)
	if err != nil {
		return wire.Object{}, err
	}
	for _, m := range obj.Members() {
		if m.Value == wire.Null || !known(m.Name) {
			continue
		}
		if _, err := wire.ParseObject(m.Value, wire.Join(path, m.Name)); err != nil {
			return wire.Object{}, err
		}
	}
	return obj, nil
}
