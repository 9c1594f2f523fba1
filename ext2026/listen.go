package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// SubscriptionFilter says which notifications a subscription is about. The zero
// filter is about none.
type SubscriptionFilter struct {
	ToolsListChanged     bool
	PromptsListChanged   bool
	ResourcesListChanged bool
	// ResourceSubscriptions are URIs, in the order received.
	ResourceSubscriptions []string
	// TaskIDs are tasks, in the order received; tasks extension.
	TaskIDs []string
}

// ParseSubscriptionFilter reads a filter. Members that are absent, and unknown
// ones, are about nothing. The error is a *[wire.DecodeError] below path.
func ParseSubscriptionFilter(v wire.Value, path string) (SubscriptionFilter, error) {
	obj, err := wire.ParseObject(v, path)
	if err != nil {
		return SubscriptionFilter{}, err
	}
	var out SubscriptionFilter
	for _, m := range obj.Members() {
		at := wire.Join(path, m.Name)
		switch m.Name {
		case "toolsListChanged":
			out.ToolsListChanged, err = parseBool(m.Value, at)
		case "promptsListChanged":
			out.PromptsListChanged, err = parseBool(m.Value, at)
		case "resourcesListChanged":
			out.ResourcesListChanged, err = parseBool(m.Value, at)
		case "resourceSubscriptions":
			out.ResourceSubscriptions, err = parseStrings(m.Value, at)
		case "taskIds":
			out.TaskIDs, err = parseStrings(m.Value, at)
		}
		if err != nil {
			return SubscriptionFilter{}, err
		}
	}
	return out, nil
}

func parseBool(v wire.Value, path string) (bool, error) {
	value, ok := v.Bool()
	if !ok {
		return false, wire.Wrong(path, "a boolean")
	}
	return value, nil
}

func parseStrings(v wire.Value, path string) ([]string, error) {
	if v.Kind() != wire.KindArray {
		return nil, wire.Wrong(path, "an array of strings")
	}
	var out []string
	for i, element := range v.Elements() {
		text, ok := element.Text()
		if !ok {
			return nil, wire.Wrong(wire.Index(path, i), "a string")
		}
		out = append(out, text)
	}
	return out, nil
}

// Empty reports whether the filter is about nothing.
func (f *SubscriptionFilter) Empty() bool {
	return !f.ToolsListChanged && !f.PromptsListChanged && !f.ResourcesListChanged &&
		len(f.ResourceSubscriptions) == 0 && len(f.TaskIDs) == 0
}

// AppendSubscriptionFilter appends the filter as an object that names only what
// it is about.
func AppendSubscriptionFilter(dst []byte, f SubscriptionFilter) []byte {
	w := wire.Begin(dst)
	for _, flag := range [...]struct {
		name string
		set  bool
	}{
		{"toolsListChanged", f.ToolsListChanged},
		{"promptsListChanged", f.PromptsListChanged},
		{"resourcesListChanged", f.ResourcesListChanged},
	} {
		if flag.set {
			w.Value(flag.name, "true")
		}
	}
	writeStrings(&w, "resourceSubscriptions", f.ResourceSubscriptions)
	writeStrings(&w, "taskIds", f.TaskIDs)
	return w.End()
}

func writeStrings(w *wire.Writer, name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.Name(name)
	buf := append(w.Buf(), '[')
	for i, s := range list {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = wire.AppendString(buf, s)
	}
	w.SetBuf(append(buf, ']'))
}

// ListenParams is a view of the params of subscriptions/listen.
type ListenParams struct {
	wire.Object
	// Filter is params.notifications; required.
	Filter SubscriptionFilter
}

// ParseListenParams reads the params of subscriptions/listen. The error is a
// *[wire.DecodeError].
func ParseListenParams(v wire.Value) (ListenParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return ListenParams{}, err
	}
	return listenParams(obj)
}

func listenParams(obj wire.Object) (ListenParams, error) {
	filter, err := ParseSubscriptionFilter(obj.Get("notifications"), "params.notifications")
	if err != nil {
		return ListenParams{}, err
	}
	return ListenParams{Object: obj, Filter: filter}, nil
}

// Acknowledged is a view of the params of
// notifications/subscriptions/acknowledged.
type Acknowledged struct {
	wire.Object
	// Filter is what the server honours; required.
	Filter SubscriptionFilter
	// SubscriptionID is the id of the listen request as received, or absent.
	SubscriptionID wire.Value
}

// ParseAcknowledged reads the params of
// notifications/subscriptions/acknowledged. The error is a *[wire.DecodeError].
func ParseAcknowledged(v wire.Value) (Acknowledged, error) {
	params, err := ParseListenParams(v)
	if err != nil {
		return Acknowledged{}, err
	}
	return Acknowledged{Object: params.Object, Filter: params.Filter, SubscriptionID: SubscriptionID(v)}, nil
}
