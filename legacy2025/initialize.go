package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// InitializeParams is a view of the params of initialize.
type InitializeParams struct {
	wire.Object
	// ProtocolVersion is the revision the client asks for; required.
	ProtocolVersion string
	// Capabilities is the client's capabilities object as received; required.
	Capabilities wire.Value
	// ClientInfo is the client's Implementation as received; required.
	ClientInfo wire.Value
}

// ParseInitializeParams reads the params of initialize (A-L6). The error is a
// *[wire.DecodeError].
func ParseInitializeParams(v wire.Value) (InitializeParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return InitializeParams{}, err
	}
	version, ok := obj.Get("protocolVersion").Text()
	if !ok {
		return InitializeParams{}, wire.Wrong("params.protocolVersion", "a string")
	}
	capabilities, err := ParseClientCapabilities(obj.Get("capabilities"), "params.capabilities")
	if err != nil {
		return InitializeParams{}, err
	}
	info, err := ParseImplementation(obj.Get("clientInfo"), "params.clientInfo")
	if err != nil {
		return InitializeParams{}, err
	}
	return InitializeParams{
		Object: obj, ProtocolVersion: version, Capabilities: capabilities.Raw(), ClientInfo: info.Raw,
	}, nil
}

// InitializeResult is a view of the result of initialize.
type InitializeResult struct {
	wire.Object
	// ProtocolVersion is the revision the server chose; required.
	ProtocolVersion string
	// Capabilities are the server's; required.
	Capabilities ServerCapabilities
	// ServerInfo is the server's Implementation as received; required.
	ServerInfo wire.Value
	// Instructions is the member as received: a string, or absent.
	Instructions wire.Value
}

// ParseInitializeResult reads the result of initialize. The error is a
// *[wire.DecodeError].
func ParseInitializeResult(v wire.Value) (InitializeResult, error) {
	obj, err := wire.ParseObject(v, "result")
	if err != nil {
		return InitializeResult{}, err
	}
	version, ok := obj.Get("protocolVersion").Text()
	if !ok {
		return InitializeResult{}, wire.Wrong("result.protocolVersion", "a string")
	}
	capabilities, err := ParseServerCapabilities(obj.Get("capabilities"), "result.capabilities")
	if err != nil {
		return InitializeResult{}, err
	}
	info, err := ParseImplementation(obj.Get("serverInfo"), "result.serverInfo")
	if err != nil {
		return InitializeResult{}, err
	}
	instructions := obj.Get("instructions")
	if instructions.Present() && instructions.Kind() != wire.KindString {
		return InitializeResult{}, wire.Wrong("result.instructions", "a string")
	}
	return InitializeResult{
		Object: obj, ProtocolVersion: version, Capabilities: capabilities,
		ServerInfo: info.Raw, Instructions: instructions,
	}, nil
}

// Implementation names a client or a server and its version.
type Implementation struct {
	// Raw is the object as received, with title, icons and the rest.
	Raw wire.Value
	// Name and Version are required.
	Name, Version string
}

// ParseImplementation reads an Implementation object. The error is a
// *[wire.DecodeError] below path.
func ParseImplementation(v wire.Value, path string) (Implementation, error) {
	if !v.IsObject() {
		return Implementation{}, wire.Wrong(path, "an object")
	}
	name, ok := v.Get("name").Text()
	if !ok {
		return Implementation{}, wire.Wrong(wire.Join(path, "name"), "a string")
	}
	version, ok := v.Get("version").Text()
	if !ok {
		return Implementation{}, wire.Wrong(wire.Join(path, "version"), "a string")
	}
	return Implementation{Raw: v, Name: name, Version: version}, nil
}
