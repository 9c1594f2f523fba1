package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// CodeResourceNotFound is the error of resources/read for an unknown URI.
const CodeResourceNotFound = -32002

// ResourceParams is a view of the params of resources/read,
// resources/subscribe, resources/unsubscribe and
// notifications/resources/updated.
type ResourceParams struct {
	wire.Object
	// URI is required.
	URI string
}

// ParseResourceParams reads params that name a resource. The error is a
// *[wire.DecodeError].
func ParseResourceParams(v wire.Value) (ResourceParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return ResourceParams{}, err
	}
	return resourceParams(obj)
}

func resourceParams(obj wire.Object) (ResourceParams, error) {
	uri, ok := obj.Get("uri").Text()
	if !ok {
		return ResourceParams{}, wire.Wrong("params.uri", "a string")
	}
	return ResourceParams{Object: obj, URI: uri}, nil
}

// ReadResourceResult is a view of the result of resources/read.
type ReadResourceResult struct {
	wire.Object
	// Contents is the array as received; required.
	Contents wire.Value
}

// ParseReadResourceResult reads the result of resources/read. The error is a
// *[wire.DecodeError].
func ParseReadResourceResult(v wire.Value) (ReadResourceResult, error) {
	obj, err := wire.ParseObject(v, "result")
	if err != nil {
		return ReadResourceResult{}, err
	}
	return readResourceResult(obj)
}

func readResourceResult(obj wire.Object) (ReadResourceResult, error) {
	contents := obj.Get("contents")
	if contents.Kind() != wire.KindArray {
		return ReadResourceResult{}, wire.Wrong("result.contents", "an array")
	}
	return ReadResourceResult{Object: obj, Contents: contents}, nil
}
