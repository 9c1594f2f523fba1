package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// CallToolParams is a view of the params of tools/call.
type CallToolParams struct {
	wire.Object
	// Name is the tool's name; required.
	Name string
	// Arguments is the object as received, or absent.
	Arguments wire.Value
}

// ParseCallToolParams reads the params of tools/call. The error is a
// *[wire.DecodeError].
func ParseCallToolParams(v wire.Value) (CallToolParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return CallToolParams{}, err
	}
	return callToolParams(obj)
}

func callToolParams(obj wire.Object) (CallToolParams, error) {
	name, ok := obj.Get("name").Text()
	if !ok {
		return CallToolParams{}, wire.Wrong("params.name", "a string")
	}
	arguments := obj.Get("arguments")
	if arguments.Present() && !arguments.IsObject() {
		return CallToolParams{}, wire.Wrong("params.arguments", "an object")
	}
	return CallToolParams{Object: obj, Name: name, Arguments: arguments}, nil
}

// CallToolResult is a view of the result of tools/call.
type CallToolResult struct {
	wire.Object
	// Content is the array of content blocks as received. The schema requires
	// it; it is absent where a server leaves it out beside structuredContent.
	Content wire.Value
	// StructuredContent is the member as received, or absent. It should be an
	// object; what a server sends instead is for its client to judge (§6.1).
	StructuredContent wire.Value
	// IsError is true when the tool itself failed; absent means false.
	IsError bool
}

// ParseCallToolResult reads the result of tools/call. The error is a
// *[wire.DecodeError].
func ParseCallToolResult(v wire.Value) (CallToolResult, error) {
	obj, err := wire.ParseObject(v, "result")
	if err != nil {
		return CallToolResult{}, err
	}
	return callToolResult(obj)
}

func callToolResult(obj wire.Object) (CallToolResult, error) {
	out := CallToolResult{Object: obj, Content: obj.Get("content"), StructuredContent: obj.Get("structuredContent")}
	if out.Content.Present() && out.Content.Kind() != wire.KindArray {
		return CallToolResult{}, wire.Wrong("result.content", "an array")
	}
	isError := obj.Get("isError")
	value, ok := isError.Bool()
	if isError.Present() && !ok {
		return CallToolResult{}, wire.Wrong("result.isError", "a boolean")
	}
	out.IsError = value
	return out, nil
}
