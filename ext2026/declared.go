package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// Declared says whether a client declared what a request of the server needs.
type Declared uint8

// The answers of [ClientDeclares].
const (
	// DeclaredNot: the client declared nothing of the kind, or the method is no
	// request to a client at all.
	DeclaredNot Declared = iota
	// DeclaredOther: the client declared the kind but not the mode, the tools or
	// the context that the request needs.
	DeclaredOther
	// DeclaredYes: the client may be asked.
	DeclaredYes
)

// ClientDeclares reports whether a client with these capabilities may be sent
// the request of a server: elicitation in the mode of the params (an empty
// elicitation object means form, Q35), sampling with tools and context only
// where sampling.tools and sampling.context are declared, and roots (§4.11).
// Only objects count as declarations.
func ClientDeclares(capabilities wire.Value, method string, params wire.Value) Declared {
	switch method {
	case MethodElicitationCreate:
		return declaresElicitation(capabilities.Get("elicitation"), params)
	case MethodSamplingCreateMessage:
		return declaresSampling(capabilities.Get("sampling"), params)
	case MethodRootsList:
		if capabilities.Get("roots").IsObject() {
			return DeclaredYes
		}
	}
	return DeclaredNot
}

func declaresElicitation(capability, params wire.Value) Declared {
	if !capability.IsObject() {
		return DeclaredNot
	}
	form, url := capability.Get("form").IsObject(), capability.Get("url").IsObject()
	mode, ok := ElicitMode(params)
	switch {
	case ok && mode == ElicitURL && url, ok && mode == ElicitForm && (form || !url):
		return DeclaredYes
	default:
		return DeclaredOther
	}
}

func declaresSampling(capability, params wire.Value) Declared {
	if !capability.IsObject() {
		return DeclaredNot
	}
	if params.Get("tools").Present() || params.Get("toolChoice").Present() {
		if !capability.Get("tools").IsObject() {
			return DeclaredOther
		}
	}
	if wanted := params.Get("includeContext"); wanted.Present() {
		if which, _ := wanted.Text(); which != "none" && !capability.Get("context").IsObject() {
			return DeclaredOther
		}
	}
	return DeclaredYes
}
