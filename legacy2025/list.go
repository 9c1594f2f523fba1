package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// ItemsMember returns the member of a list result that holds its items, or ""
// when method is no list of this file.
func ItemsMember(method string) string {
	switch method {
	case MethodToolsList:
		return "tools"
	case MethodPromptsList:
		return "prompts"
	case MethodResourcesList:
		return "resources"
	case MethodResourceTemplatesList:
		return "resourceTemplates"
	default:
		return ""
	}
}

// ListParams is a view of the params of a list request.
type ListParams struct {
	wire.Object
	// Cursor is the member as received: a string, or absent.
	Cursor wire.Value
}

// ParseListParams reads the params of a list request; they may be absent. The
// error is a *[wire.DecodeError].
func ParseListParams(v wire.Value) (ListParams, error) {
	obj, err := wire.OptionalObject(v, "params")
	if err != nil {
		return ListParams{}, err
	}
	return listParams(obj)
}

func listParams(obj wire.Object) (ListParams, error) {
	cursor := obj.Get("cursor")
	if cursor.Present() && cursor.Kind() != wire.KindString {
		return ListParams{}, wire.Wrong("params.cursor", "a string")
	}
	return ListParams{Object: obj, Cursor: cursor}, nil
}

// ListResult is a view of a page of a list.
type ListResult struct {
	wire.Object
	// Items is the array of items as received; required.
	Items wire.Value
	// NextCursor is the member as received: a string, or absent on the last page.
	NextCursor wire.Value
}

// ParseListResult reads a page of the list that method asks for. A null
// nextCursor, which some servers send on the last page, counts as none. The error is a
// *[wire.DecodeError].
func ParseListResult(method string, v wire.Value) (ListResult, error) {
	obj, err := wire.ParseObject(v, "result")
	if err != nil {
		return ListResult{}, err
	}
	return listResult(method, obj)
}

func listResult(method string, obj wire.Object) (ListResult, error) {
	name := ItemsMember(method)
	items := obj.Get(name)
	if items.Kind() != wire.KindArray {
		return ListResult{}, wire.Wrong(wire.Join("result", name), "an array")
	}
	next := obj.Get("nextCursor")
	if next == wire.Null {
		next = ""
	}
	if next.Present() && next.Kind() != wire.KindString {
		return ListResult{}, wire.Wrong("result.nextCursor", "a string")
	}
	return ListResult{Object: obj, Items: items, NextCursor: next}, nil
}
