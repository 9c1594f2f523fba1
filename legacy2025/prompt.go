package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// GetPromptParams is a view of the params of prompts/get.
type GetPromptParams struct {
	wire.Object
	// Name is the prompt's name; required.
	Name string
	// Arguments is the object as received, or absent.
	Arguments wire.Value
}

// ParseGetPromptParams reads the params of prompts/get. The error is a
// *[wire.DecodeError].
func ParseGetPromptParams(v wire.Value) (GetPromptParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return GetPromptParams{}, err
	}
	return getPromptParams(obj)
}

func getPromptParams(obj wire.Object) (GetPromptParams, error) {
	name, ok := obj.Get("name").Text()
	if !ok {
		return GetPromptParams{}, wire.Wrong("params.name", "a string")
	}
	arguments := obj.Get("arguments")
	if arguments.Present() && !arguments.IsObject() {
		return GetPromptParams{}, wire.Wrong("params.arguments", "an object")
	}
	return GetPromptParams{Object: obj, Name: name, Arguments: arguments}, nil
}

// GetPromptResult is a view of the result of prompts/get.
type GetPromptResult struct {
	wire.Object
	// Messages is the array as received; required.
	Messages wire.Value
}

// ParseGetPromptResult reads the result of prompts/get. The error is a
// *[wire.DecodeError].
func ParseGetPromptResult(v wire.Value) (GetPromptResult, error) {
	obj, err := wire.ParseObject(v, "result")
	if err != nil {
		return GetPromptResult{}, err
	}
	return getPromptResult(obj)
}

func getPromptResult(obj wire.Object) (GetPromptResult, error) {
	messages := obj.Get("messages")
	if messages.Kind() != wire.KindArray {
		return GetPromptResult{}, wire.Wrong("result.messages", "an array")
	}
	return GetPromptResult{Object: obj, Messages: messages}, nil
}
