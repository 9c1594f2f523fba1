package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// InputEntry is a question on its way to a modern client.
type InputEntry struct {
	// Key is unique for the life of the task or call.
	Key string
	// Request is the InputRequest, as [AppendUpInputRequest] wrote it.
	Request wire.Value
}

func writeInputRequests(w *wire.Writer, entries []InputEntry) {
	w.Name("inputRequests")
	w.SetBuf(AppendInputRequests(w.Buf(), entries))
}

// AppendInputRequests appends an inputRequests object.
func AppendInputRequests(dst []byte, entries []InputEntry) []byte {
	w := wire.Begin(dst)
	for _, entry := range entries {
		w.Value(entry.Key, entry.Request)
	}
	return w.End()
}

// QuestionOptions say how a modern question is put to a legacy client.
type QuestionOptions struct {
	// TaskID ties the request to a task, by the client's handle (A-I2); empty for
	// a question of a plain call.
	TaskID string
	// ElicitationID identifies a question with a URL (A-I11). It is needed for
	// those and not used for others.
	ElicitationID string
	// Version is the revision negotiated with the client; empty means
	// [legacy2025.Latest]. Questions are rewritten for older ones (§3.9).
	Version string
}

// old reports whether the client knows neither modes of elicitation nor tools in
// sampling.
func (o *QuestionOptions) old() bool {
	return o.Version != "" && !legacy2025.HasElicitationModes(o.Version)
}

// MayAskDown reports whether a legacy client of this revision with these
// capabilities may be sent the question of a modern server (A-C1, §4.11).
func MayAskDown(capabilities wire.Value, version string, in ext2026.InputRequest) bool {
	if !legacy2025.HasElicitationModes(version) {
		mode, _ := ext2026.ElicitMode(in.Params)
		switch {
		case in.Method == ext2026.MethodElicitationCreate && (!legacy2025.HasElicitation(version) || mode == ext2026.ElicitURL):
			return false
		case in.Method == ext2026.MethodSamplingCreateMessage && usesTools(in.Params):
			return false
		}
	}
	return legacy2025.ClientDeclares(capabilities, in.Method, in.Params) == legacy2025.DeclaredYes
}

// MayAskUp reports whether a modern client with these capabilities may be shown
// the question of a legacy server, and whether it declared at least the kind: the
// server is refused with -32601 if not even that, and else with -32602 (B-P7,
// B-I4).
func MayAskUp(capabilities wire.Value, method string, params wire.Value) (may, kind bool) {
	declared := ext2026.ClientDeclares(capabilities, method, params)
	return declared == ext2026.DeclaredYes, declared != ext2026.DeclaredNot
}

// AppendDownInputRequest appends the params of the request that puts a modern
// question to a legacy client; the method stays the same. Nothing is appended when
// the request goes without params, which is so for roots/list of a plain call.
//
// The error is an *[Error] with [ErrNoCounterpart] when the method is unknown or
// the client's revision cannot express the question: it then counts as undeclared
// (§4.11).
//
// Spec: 2025-11-25 "Elicitation", "Sampling", "Roots", "Associating Task-Related
// Messages". Rules §4.10, §3.3, §3.9.
// Loss: _meta of the question, and what an older revision cannot express.
func AppendDownInputRequest(dst []byte, in ext2026.InputRequest, o QuestionOptions) ([]byte, Notes, error) {
	switch in.Method {
	case ext2026.MethodElicitationCreate:
		return appendDownElicit(dst, in.Params, o)
	case ext2026.MethodSamplingCreateMessage:
		return appendDownSampling(dst, in.Params, o)
	case ext2026.MethodRootsList:
		buf, notes := appendDownRoots(dst, in.Params, o)
		return buf, notes, nil
	default:
		return dst, 0, noQuestion(Down, in.Method, "method")
	}
}

// AppendUpInputRequest appends the InputRequest for a legacy server's request to
// its client. elicitationId, if there was one, stays with the bridge.
//
// The error is an *[Error]: [ErrNoCounterpart] for a method that is no question,
// or what is malformed.
//
// Rules §4.21, B-I3, B-P8, B-P10, §3.3.
// Loss: _meta, task and elicitationId of the request.
func AppendUpInputRequest(dst []byte, method string, params wire.Value) ([]byte, Notes, error) {
	w := wire.Begin(dst)
	w.Text("method", method)
	var notes Notes
	obj, err := wire.OptionalObject(params, "params")
	if err != nil {
		return dst, 0, malformed(Up, method, err)
	}
	switch method {
	case legacy2025.MethodElicitationCreate:
		if _, known := legacy2025.ElicitMode(params); !known || !params.Present() {
			return dst, 0, noQuestion(Up, method, "params.mode")
		}
		notes = writeUpQuestion(&w, &obj)
	case legacy2025.MethodSamplingCreateMessage:
		if !params.Present() {
			return dst, 0, malformed(Up, method, wire.Wrong("params", "an object"))
		}
		notes = writeUpQuestion(&w, &obj)
	case legacy2025.MethodRootsList:
		notes = writeUpRoots(&w, &obj)
	default:
		return dst, 0, noQuestion(Up, method, "method")
	}
	return w.End(), notes, nil
}

// noQuestion says that a question cannot be put to the other side.
func noQuestion(dir Dir, method, path string) error {
	return &Error{Dir: dir, Method: method, Path: path, Err: ErrNoCounterpart}
}

// writeUpQuestion writes the params of a modern question: those of the legacy
// request without what the bridge keeps (B-I3).
func writeUpQuestion(w *wire.Writer, params *wire.Object) Notes {
	var notes Notes
	w.Name("params")
	out := wire.Begin(w.Buf())
	for _, m := range params.Members() {
		switch m.Name {
		case "_meta":
			notes |= questionMeta(m.Value)
		case "task":
			notes = notes.With(NoteTaskMember)
		case "elicitationId":
			notes = notes.With(NoteElicitationID)
		default:
			out.Copy(m)
		}
	}
	w.SetBuf(out.End())
	return notes
}

// AppendUpInputResponse appends the InputResponse for a legacy client's answer to
// a question. An error, a *[wire.DecodeError], says that the answer is none: it
// then counts as an error of the client (§4.11, §4.25).
//
// Rules A-I5, A-I11, A-I13, §3.3.
// Loss: _meta of the answer (of a sampled message only the reserved keys), and
// content where the answer may have none.
func AppendUpInputResponse(dst []byte, in ext2026.InputRequest, answer wire.Value) ([]byte, Notes, error) {
	return appendAnswer(dst, Up, in.Method, in.Params, answer, "")
}

// AppendDownInputResponse appends the result with which a modern client's answer
// goes to a legacy server, tied to the task by the server's task id unless that is
// empty. params are those of the question. path names the answer in errors, such
// as "params.inputResponses.k"; an error is a *[wire.DecodeError] and the client's
// fault (B-I7).
//
// Rules B-I5, B-P3, B-P10, §3.3.
// Loss: _meta of the answer (of a sampled message only the reserved keys).
func AppendDownInputResponse(dst []byte, method string, params, answer wire.Value, taskID, path string) ([]byte, Notes, error) {
	buf, notes, err := appendAnswer(dst, Down, method, params, answer, taskID)
	if err != nil {
		return dst, 0, under(path, err)
	}
	return buf, notes, nil
}

// DismissedAnswer is the answer to an elicitation that nobody can be asked (§4.11).
const DismissedAnswer wire.Value = `{"action":"cancel"}`

// AppendUpInputRequired appends the result that asks a modern client for input, with
// the state to come back with. info is the server's Implementation, or absent.
//
// Spec: 2026-07-28 "Multi Round-Trip Requests". Rules B-P1, B-U10, B-L5.
func AppendUpInputRequired(dst []byte, entries []InputEntry, state string, info wire.Value) []byte {
	w := wire.Begin(dst)
	w.Text("resultType", string(ext2026.ResultInputRequired))
	writeInputRequests(&w, entries)
	w.Text("requestState", state)
	writeMeta(&w, Up, &wire.Object{}, metaPlan{serverInfo: info})
	return w.End()
}

// Undeclared returns the -32021 that a modern client gets for a call that needed to
// ask it what it has not declared: the legacy request's method and params say what
// (B-P7, B-U12).
func Undeclared(method string, params wire.Value) *jsonrpc.Error {
	required := `{"roots":{}}`
	switch method {
	case legacy2025.MethodElicitationCreate:
		required = `{"elicitation":{"form":{}}}`
		if mode, _ := legacy2025.ElicitMode(params); mode == legacy2025.ElicitURL {
			required = `{"elicitation":{"url":{}}}`
		}
	case legacy2025.MethodSamplingCreateMessage:
		required = `{"sampling":{}}`
		if usesTools(params) {
			required = `{"sampling":{"tools":{}}}`
		}
	}
	return &jsonrpc.Error{
		Code: ext2026.CodeMissingCapability, Message: "the server asked for what this request does not declare: " + method,
		Data: wire.Value(`{"requiredCapabilities":` + required + `}`),
	}
}
