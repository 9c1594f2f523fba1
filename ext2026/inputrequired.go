package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// InputRequest is one value of inputRequests: a question to the client without
// the envelope of a request.
type InputRequest struct {
	// Method is one of [MethodElicitationCreate], [MethodSamplingCreateMessage]
	// and [MethodRootsList], or something unknown.
	Method string
	// Params is the params object as received; optional for roots/list only.
	Params wire.Value
}

// ParseInputRequest reads one value of inputRequests: an object with a method and,
// for elicitation and sampling, params. An unknown method is no error, for the
// caller answers it like an undeclared one (§4.11). The error is a
// *[wire.DecodeError] below path.
func ParseInputRequest(v wire.Value, path string) (InputRequest, error) {
	obj, err := wire.ParseObject(v, path)
	if err != nil {
		return InputRequest{}, err
	}
	method, ok := obj.Get("method").Text()
	if !ok || method == "" {
		return InputRequest{}, wire.Wrong(wire.Join(path, "method"), "a non-empty string")
	}
	params := obj.Get("params")
	if optional := method == MethodRootsList && !params.Present(); !optional {
		if _, err := wire.ParseObject(params, wire.Join(path, "params")); err != nil {
			return InputRequest{}, err
		}
	}
	return InputRequest{Method: method, Params: params}, nil
}
