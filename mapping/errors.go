package mapping

import (
	"strings"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// treatment says what becomes of an error code on the other side.
type treatment uint8

const (
	// pass keeps code, message and data.
	pass treatment = iota
	// internal makes it -32603 and keeps message and data.
	internal
	// bare makes it -32603 and drops data, which only its own era understands.
	bare
	// enclose makes it -32603 and puts code and data into data.
	enclose
	// missing makes it -32600 and names the missing capabilities (Q6).
	missing
	// notFound is a resource that is not there, see [DownReadError] and
	// [UpReadError].
	notFound
)

// errorRule is one row of the table of codes.
type errorRule struct {
	// from and to bound the codes, both included.
	from, to int64
	// method is the only one the row is for; empty means all.
	method string
	// what becomes of it.
	down, up treatment
}

// errorTable is the whole of §1.6: the first row that matches decides. Codes
// without a row pass.
var errorTable = []errorRule{
	{legacy2025.CodeURLElicitationRequired, legacy2025.CodeURLElicitationRequired, "", bare, enclose},
	{legacy2025.CodeResourceNotFound, legacy2025.CodeResourceNotFound, "", pass, notFound},
	{jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidParams, ext2026.MethodResourcesRead, notFound, pass},
	{jsonrpc.CodeParse, jsonrpc.CodeParse, "", internal, pass},
	{jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidRequest, "", internal, pass},
	{ext2026.CodeHeaderMismatch, ext2026.CodeHeaderMismatch, "", bare, enclose},
	{ext2026.CodeMissingCapability, ext2026.CodeMissingCapability, "", missing, enclose},
	{ext2026.CodeUnsupportedVersion, ext2026.CodeUnsupportedVersion, "", bare, enclose},
	{-32099, -32020, "", enclose, enclose},
	{-32019, -32000, "", pass, enclose},
}

// DownError returns the error that a legacy client gets for a modern backend's
// error in answer to a request: code, message and data as they came unless §1.6
// says otherwise. method and params are those of the request to the backend; params
// matter for resources/read alone and may be absent.
//
// -32042, which no modern backend should send, becomes -32603: ask
// [URLElicitationPasses] first. The repetitions of §1.6, for -32020, -32021 and
// -32022, are the caller's.
//
// Rules §1.6, §3.3, Q6, Q17.
// Loss: codes and data that only the modern era knows.
func DownError(method string, params wire.Value, e *jsonrpc.Error) *jsonrpc.Error {
	rule := findErrorRule(method, e.Code)
	if rule.down == notFound {
		uri, _ := params.Get("uri").Text()
		return DownReadError(e, uri)
	}
	return rule.down.apply(e)
}

// downTaskError returns the error of a failed modern task for a legacy client:
// exactly as it came but for the codes of the modern era (A-R1).
func downTaskError(e *jsonrpc.Error) (*jsonrpc.Error, Notes) {
	rule := findErrorRule(ext2026.MethodToolsCall, e.Code)
	if rule.down == pass || rule.down == internal {
		return e, 0
	}
	return rule.down.apply(e), Notes(0).With(NoteErrorCode)
}

// UpError returns the error that a modern client gets for a legacy backend's error
// in answer to a request, or as the end of a task. -32042 becomes -32603: where
// the client can be asked the caller uses [AppendUpURLElicitations] instead.
//
// Rules §1.6, B-G4, B-U12, B-U13.
// Loss: codes that only the legacy era knows, and -32000 to -32099.
func UpError(method string, e *jsonrpc.Error) *jsonrpc.Error {
	return findErrorRule(method, e.Code).up.apply(e)
}

// UpMissing returns the -32021 of a legacy backend as the bridge's own, if it is true
// of the client: it names ways to ask the client something that these capabilities
// do not declare. Nil otherwise: the code means nothing in that era.
//
// Rules §1.6, B-P7.
// Loss: whatever else the backend asks for.
func UpMissing(e *jsonrpc.Error, capabilities wire.Value) *jsonrpc.Error {
	if e.Code != ext2026.CodeMissingCapability {
		return nil
	}
	lacks := wire.Begin(nil)
	some := false
	for m := range e.Data.Get("requiredCapabilities").Members() {
		switch m.Name {
		case "elicitation", "sampling", "roots":
			if m.Value.IsObject() && !capabilities.Get(m.Name).IsObject() {
				lacks.Value(m.Name, m.Value)
				some = true
			}
		}
	}
	if !some {
		return nil
	}
	w := wire.Begin(nil)
	w.Value("requiredCapabilities", wire.Value(lacks.End()))
	return &jsonrpc.Error{Code: ext2026.CodeMissingCapability, Message: e.Message, Data: wire.Value(w.End())}
}

// URLElicitationPasses reports whether a modern backend's -32042 may go to a legacy
// client as it came: its data is well-formed, and the client speaks 2025-11-25 and
// declared elicitation.url (§1.6).
func URLElicitationPasses(e *jsonrpc.Error, capabilities wire.Value, version string) bool {
	if e.Code != legacy2025.CodeURLElicitationRequired || version != wire.Version20251125 ||
		!capabilities.Get("elicitation").Get("url").IsObject() {
		return false
	}
	_, err := legacy2025.ParseURLElicitations(e.Data)
	return err == nil
}

func findErrorRule(method string, code int64) errorRule {
	for _, rule := range errorTable {
		if code >= rule.from && code <= rule.to && (rule.method == "" || rule.method == method) {
			return rule
		}
	}
	return errorRule{}
}

// apply returns e as the treatment leaves it, and e itself where nothing changes.
func (t treatment) apply(e *jsonrpc.Error) *jsonrpc.Error {
	switch t {
	case internal:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: e.Message, Data: e.Data}
	case bare:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: e.Message}
	case enclose:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: e.Message, Data: enclosed(e)}
	case missing:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: missingMessage(e)}
	case notFound:
		return UpReadError(e)
	default: // pass
		return e
	}
}

// enclosed returns the data under which a foreign code and its data are kept. The
// data of -32042 holds elicitation ids, which no modern client may see (§6.2).
func enclosed(e *jsonrpc.Error) wire.Value {
	w := wire.Begin(nil)
	w.Int("originalCode", e.Code)
	if e.Code != legacy2025.CodeURLElicitationRequired {
		w.Value("originalData", e.Data)
	}
	return wire.Value(w.End())
}

// missingMessage names the capabilities that a client lacks.
func missingMessage(e *jsonrpc.Error) string {
	paths := ext2026.MissingCapabilities(e.Data).Paths
	if len(paths) == 0 {
		return "the server requires a capability that this client does not have: " + e.Message
	}
	return "the server requires capabilities that this client does not have: " + strings.Join(paths, ", ")
}
