package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// ReadResourceParams is a view of the params of resources/read.
type ReadResourceParams struct {
	wire.Object
	// URI is required.
	URI string
	// Retry is what a request that answers questions carries.
	Retry Retry
}

// ParseReadResourceParams reads the params of resources/read. The error is a
// *[wire.DecodeError].
func ParseReadResourceParams(v wire.Value) (ReadResourceParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return ReadResourceParams{}, err
	}
	return readResourceParams(obj)
}

func readResourceParams(obj wire.Object) (ReadResourceParams, error) {
	uri, ok := obj.Get("uri").Text()
	if !ok {
		return ReadResourceParams{}, wire.Wrong("params.uri", "a string")
	}
	retry, err := parseRetry(&obj)
	return ReadResourceParams{Object: obj, URI: uri, Retry: retry}, err
}

// ReadResourceResult is a view of the complete result of resources/read.
type ReadResourceResult struct {
	wire.Object
	// Contents is the array as received; required.
	Contents wire.Value
}

// ParseReadResourceResult reads the complete result of resources/read. The
// error is a *[wire.DecodeError].
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

// ResourceUpdatedParams is a view of the params of
// notifications/resources/updated.
type ResourceUpdatedParams struct {
	wire.Object
	// URI is required. It may name a resource below the one subscribed to.
	URI string
	// SubscriptionID is the id of the listen request as received, or absent.
	SubscriptionID wire.Value
}

// ParseResourceUpdatedParams reads the params of
// notifications/resources/updated. The error is a *[wire.DecodeError].
func ParseResourceUpdatedParams(v wire.Value) (ResourceUpdatedParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return ResourceUpdatedParams{}, err
	}
	uri, ok := obj.Get("uri").Text()
	if !ok {
		return ResourceUpdatedParams{}, wire.Wrong("params.uri", "a string")
	}
	return ResourceUpdatedParams{Object: obj, URI: uri, SubscriptionID: SubscriptionID(v)}, nil
}
