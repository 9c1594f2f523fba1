package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// CodeURLElicitationRequired is the error of a request that the user has to
// visit URLs for first.
const CodeURLElicitationRequired = -32042

// URLElicitation is one entry of the data of a URLElicitationRequired error.
type URLElicitation struct {
	// ID is elicitationId; required.
	ID string
	// URL is url; required.
	URL string
	// Message is message; required.
	Message string

	// Object is the entry as received.
	wire.Object
}

// ParseURLElicitations reads the data of a [CodeURLElicitationRequired] error: an
// object whose elicitations is an array of url-mode entries, each with
// elicitationId, url and message. The error is a *[wire.DecodeError] below data.
func ParseURLElicitations(data wire.Value) ([]URLElicitation, error) {
	obj, err := wire.ParseObject(data, "data")
	if err != nil {
		return nil, err
	}
	list := obj.Get("elicitations")
	if list.Kind() != wire.KindArray {
		return nil, wire.Wrong("data.elicitations", "an array")
	}
	var out []URLElicitation
	for i, v := range list.Elements() {
		entry, err := parseURLElicitation(v, wire.Index("data.elicitations", i))
		if err != nil {
			return nil, err
		}
		out = append(out, entry)
	}
	return out, nil
}

func parseURLElicitation(v wire.Value, path string) (URLElicitation, error) {
	obj, err := wire.ParseObject(v, path)
	if err != nil {
		return URLElicitation{}, err
	}
	if mode, _ := obj.Get("mode").Text(); mode != ElicitURL {
		return URLElicitation{}, wire.Wrong(wire.Join(path, "mode"), `"url"`)
	}
	entry := URLElicitation{Object: obj}
	for _, field := range []struct {
		name string
		to   *string
	}{{"elicitationId", &entry.ID}, {"url", &entry.URL}, {"message", &entry.Message}} {
		text, ok := obj.Get(field.name).Text()
		if !ok {
			return URLElicitation{}, wire.Wrong(wire.Join(path, field.name), "a string")
		}
		*field.to = text
	}
	return entry, nil
}
