package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// MaxCompletionValues is the most values that a completion may hold.
const MaxCompletionValues = 100

// CompleteParams is a view of the params of completion/complete.
type CompleteParams struct {
	wire.Object
	// Ref is the object as received; required.
	Ref wire.Value
	// Argument is the object as received; its name and value are strings.
	Argument wire.Value
	// Context is the object as received, or absent.
	Context wire.Value
}

// ParseCompleteParams reads the params of completion/complete. The error is a
// *[wire.DecodeError].
func ParseCompleteParams(v wire.Value) (CompleteParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return CompleteParams{}, err
	}
	return completeParams(obj)
}

func completeParams(obj wire.Object) (CompleteParams, error) {
	out := CompleteParams{Object: obj, Ref: obj.Get("ref"), Argument: obj.Get("argument"), Context: obj.Get("context")}
	if !out.Ref.IsObject() {
		return CompleteParams{}, wire.Wrong("params.ref", "an object")
	}
	if !out.Argument.IsObject() {
		return CompleteParams{}, wire.Wrong("params.argument", "an object")
	}
	for _, name := range [...]string{"name", "value"} {
		if out.Argument.Get(name).Kind() != wire.KindString {
			return CompleteParams{}, wire.Wrong(wire.Join("params.argument", name), "a string")
		}
	}
	if out.Context.Present() && !out.Context.IsObject() {
		return CompleteParams{}, wire.Wrong("params.context", "an object")
	}
	return out, nil
}

// CompleteResult is a view of the result of completion/complete.
type CompleteResult struct {
	wire.Object
	// Completion is the object as received; required.
	Completion wire.Value
	// Values is the array of strings as received; required.
	Values wire.Value
}

// ParseCompleteResult reads the result of completion/complete. More than
// [MaxCompletionValues] values are no error here. The error is a
// *[wire.DecodeError].
func ParseCompleteResult(v wire.Value) (CompleteResult, error) {
	obj, err := wire.ParseObject(v, "result")
	if err != nil {
		return CompleteResult{}, err
	}
	return completeResult(obj)
}

func completeResult(obj wire.Object) (CompleteResult, error) {
	completion := obj.Get("completion")
	if !completion.IsObject() {
		return CompleteResult{}, wire.Wrong("result.completion", "an object")
	}
	values := completion.Get("values")
	if values.Kind() != wire.KindArray {
		return CompleteResult{}, wire.Wrong("result.completion.values", "an array")
	}
	return CompleteResult{Object: obj, Completion: completion, Values: values}, nil
}
