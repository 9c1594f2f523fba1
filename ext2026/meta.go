package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// Version is the revision that this package is named after.
const Version = wire.Version20260728

// RequestMeta is a view of what every request says about its client.
type RequestMeta struct {
	wire.Object
	// ProtocolVersion is required.
	ProtocolVersion string
	// ClientInfo is the Implementation as received, or absent.
	ClientInfo wire.Value
	// Capabilities are the client's for this request; required.
	Capabilities ClientCapabilities
	// LogLevel is the level the client wants messages from, or empty for none.
	LogLevel LogLevel
	// ProgressToken is the string or number as received, or absent.
	ProgressToken wire.Value
}

// ParseRequestMeta reads params._meta of a request (§1.8). The error is a
// *[wire.DecodeError].
func ParseRequestMeta(params wire.Value) (RequestMeta, error) {
	obj, err := wire.ParseObject(params.Get("_meta"), "params._meta")
	if err != nil {
		return RequestMeta{}, err
	}
	out := RequestMeta{Object: obj, ClientInfo: obj.Get(wire.MetaClientInfo), ProgressToken: obj.Get(wire.MetaProgressToken)}
	path := func(key string) string { return wire.Join("params._meta", key) }
	var ok bool
	if out.ProtocolVersion, ok = obj.Get(wire.MetaProtocolVersion).Text(); !ok {
		return RequestMeta{}, wire.Wrong(path(wire.MetaProtocolVersion), "a string")
	}
	if out.Capabilities, err = ParseClientCapabilities(obj.Get(wire.MetaClientCapabilities), path(wire.MetaClientCapabilities)); err != nil {
		return RequestMeta{}, err
	}
	if out.ClientInfo.Present() {
		if _, err := ParseImplementation(out.ClientInfo, path(wire.MetaClientInfo)); err != nil {
			return RequestMeta{}, err
		}
	}
	if level := obj.Get(wire.MetaLogLevel); level.Present() {
		text, _ := level.Text()
		if out.LogLevel = LogLevel(text); !out.LogLevel.Known() {
			return RequestMeta{}, wire.Wrong(path(wire.MetaLogLevel), "a log level")
		}
	}
	if out.ProgressToken.Present() && !validToken(out.ProgressToken) {
		return RequestMeta{}, wire.Wrong("params._meta.progressToken", "a string or a number")
	}
	return out, nil
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

// SubscriptionID returns the id of the subscription that the params of a
// notification, or a result, belong to, as received; absent when there is none.
func SubscriptionID(v wire.Value) wire.Value { return v.Get("_meta").Get(wire.MetaSubscriptionID) }

// ServerInfo returns the Implementation that a result names as its server, or
// an absent value when there is none that reads as one.
func ServerInfo(result wire.Value) wire.Value {
	info := result.Get("_meta").Get(wire.MetaServerInfo)
	if _, err := ParseImplementation(info, ""); err != nil {
		return ""
	}
	return info
}
