package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// ResultType is the kind of a result.
type ResultType string

// The result types. The set is closed (G-15).
const (
	ResultComplete      ResultType = "complete"
	ResultInputRequired ResultType = "input_required"
	ResultTask          ResultType = "task" // tasks extension
)

// Result is a view of a result whose type has been read and found allowed.
type Result struct {
	wire.Object
	// Type is never empty: a result without resultType is complete.
	Type ResultType
	// InputRequests is the object as received, or absent. It has a meaning
	// only when Type is [ResultInputRequired].
	InputRequests wire.Value
	// RequestState is the string as received, or absent. It has a meaning only
	// when Type is [ResultInputRequired].
	RequestState wire.Value
}

// ParseResult reads the result of method and interprets its type (G-15):
// input_required is valid for [Asks] methods and needs inputRequests or
// requestState, task is valid for tools/call. On the methods of tasks a task
// counts as complete when the body is one (Q14). The error is a
// *[wire.DecodeError]; its path is result.resultType when the type is at fault.
func ParseResult(method string, v wire.Value) (Result, error) {
	obj, err := wire.ParseObject(v, "result")
	if err != nil {
		return Result{}, err
	}
	out := Result{Object: obj, Type: ResultComplete}
	member := obj.Get("resultType")
	if member.Present() {
		text, ok := member.Text()
		if !ok {
			return Result{}, wire.Wrong("result.resultType", "a string")
		}
		out.Type = ResultType(text)
	}
	switch {
	case out.Type == ResultComplete:
		return out, nil
	case out.Type == ResultTask && method == MethodToolsCall:
		return out, nil
	case out.Type == ResultTask && tellsTask(method, &obj):
		out.Type = ResultComplete
		return out, nil
	case out.Type == ResultInputRequired && Asks(method):
		return inputRequired(out)
	default:
		return Result{}, wire.Wrong("result.resultType", "a type that "+method+" may have")
	}
}

func inputRequired(out Result) (Result, error) {
	out.InputRequests, out.RequestState = out.Get("inputRequests"), out.Get("requestState")
	if out.InputRequests.Present() && !out.InputRequests.IsObject() {
		return Result{}, wire.Wrong("result.inputRequests", "an object")
	}
	if out.RequestState.Present() && out.RequestState.Kind() != wire.KindString {
		return Result{}, wire.Wrong("result.requestState", "a string")
	}
	if !out.InputRequests.Present() && !out.RequestState.Present() {
		return Result{}, wire.Wrong("result", "inputRequests or requestState")
	}
	return out, nil
}

// tellsTask reports whether obj is a task in answer to a method of tasks.
func tellsTask(method string, obj *wire.Object) bool {
	return method == "tasks/get" && obj.Has("taskId") && obj.Has("status")
}
