package mapping

import (
	"errors"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// Envelope is what the bridge says about the client of a modern request, and
// under which token it asks for progress (A-U1).
type Envelope struct {
	// ClientInfo is the client's Implementation; absent says nothing.
	ClientInfo wire.Value
	// Capabilities are the modern ones, from [AppendUpClientCapabilities];
	// absent means none.
	Capabilities wire.Value
	// LogLevel is the level to ask messages from; empty asks for none.
	LogLevel string
	// ProgressToken takes the place of the client's token, if there is one
	// (G-9). Absent asks for no progress.
	ProgressToken wire.Value
	// Retry answers an input_required result; zero on the first attempt.
	Retry ext2026.Retry
	// Version is the revision negotiated with the client; empty means
	// [legacy2025.Latest].
	Version string
}

// AppendUpParams appends the params of a legacy request as those of a modern
// one: with the envelope, and without what a legacy client must not say.
//
// Params are created when the client sent none (A-U3). An alias in cursor is
// resolved. Whatever no rule names is copied as it came.
//
// Spec: 2026-07-28 "_meta". Rules A-U1, A-U3, A-T1, A-T3, G-9, §3.6, §3.9, §6.1.
// Loss: task, forged inputResponses and requestState, the reserved keys of _meta,
// and the context of a completion of a client too old to mean it; all but
// related-task set a note.
func AppendUpParams(dst []byte, method string, params wire.Value, env Envelope) ([]byte, Notes, error) {
	obj, err := wire.OptionalObject(params, "params")
	if err == nil {
		err = legacy2025.CheckParams(method, obj)
	}
	if err != nil {
		return dst, 0, malformed(Up, method, err)
	}
	meta, err := wire.OptionalObject(obj.Get("_meta"), "params._meta")
	if err == nil {
		_, err = legacy2025.ProgressToken(params)
	}
	if err != nil {
		return dst, 0, malformed(Up, method, err)
	}
	var notes Notes
	w := wire.Begin(dst)
	written := false
	for _, m := range obj.Members() {
		switch {
		case m.Name == "_meta":
			notes |= writeEnvelope(&w, &meta, env)
			written = true
		case m.Name == "task":
			notes = notes.With(NoteTaskMember)
		case (m.Name == "inputResponses" || m.Name == "requestState") && ext2026.Asks(method):
			notes = notes.With(NoteForgedRetry)
		case m.Name == "context" && method == ext2026.MethodCompletionComplete && !knowsContext(env.Version):
			notes = notes.With(NoteOlderRevision)
		case m.Name == "cursor" && ext2026.ItemsMember(method) != "":
			w.Name(m.Name)
			w.SetBuf(AppendUpCursor(w.Buf(), m.Value))
		default:
			w.Copy(m)
		}
	}
	if !written {
		notes |= writeEnvelope(&w, &meta, env)
	}
	return w.End(), notes, nil
}

// writeEnvelope writes what a retry adds to params, then _meta.
func writeEnvelope(w *wire.Writer, meta *wire.Object, env Envelope) Notes {
	w.Value("inputResponses", env.Retry.InputResponses)
	w.Value("requestState", env.Retry.RequestState)
	return writeMeta(w, Up, meta, metaPlan{envelope: true, env: env})
}

// DownEnvelope is what the bridge adds to a modern client's request on its way
// to a legacy server.
type DownEnvelope struct {
	// ProgressToken takes the place of the client's token, if there is one
	// (G-9). Absent asks for no progress.
	ProgressToken wire.Value
	// Task is the task member that augments a tools/call (§4.19), or absent.
	Task wire.Value
	// Version is the revision negotiated with the server; empty means
	// [legacy2025.Latest].
	Version string
}

// AppendDownParams appends the params of a modern request as those of a legacy
// one: without the envelope and the members of a retry, both of which the
// bridge consumes.
//
// Rules B-T8, G-9, §3.6, §3.9, §6.1, §6.2.
// Loss: task, the legacy keys of _meta, and the context of a completion for a
// server too old to know it; each sets a note.
func AppendDownParams(dst []byte, method string, params wire.Value, env DownEnvelope) ([]byte, Notes, error) {
	obj, err := wire.OptionalObject(params, "params")
	if err == nil {
		err = ext2026.CheckParams(method, obj)
	}
	if err != nil {
		return dst, 0, malformed(Down, method, err)
	}
	meta, err := wire.OptionalObject(obj.Get("_meta"), "params._meta")
	if err == nil {
		_, err = legacy2025.ProgressToken(params)
	}
	if err != nil {
		return dst, 0, malformed(Down, method, err)
	}
	var notes Notes
	w := wire.Begin(dst)
	for _, m := range obj.Members() {
		switch {
		case m.Name == "_meta":
		case m.Name == "task":
			notes = notes.With(NoteTaskMember)
		case (m.Name == "inputResponses" || m.Name == "requestState") && ext2026.Asks(method):
		case m.Name == "context" && method == ext2026.MethodCompletionComplete && !knowsContext(env.Version):
			notes = notes.With(NoteOlderRevision)
		default:
			w.Copy(m)
		}
	}
	w.Value("task", env.Task)
	notes |= writeMeta(&w, Down, &meta, metaPlan{request: true, env: Envelope{ProgressToken: env.ProgressToken}})
	return w.End(), notes, nil
}

// metaPlan says what a _meta object holds beside the members that survive.
type metaPlan struct {
	// envelope writes the four keys of a modern request from env.
	envelope bool
	// request replaces progressToken by env.ProgressToken; envelope implies it.
	request bool
	env     Envelope
	// serverInfo, subscription and relatedTask are written unless absent.
	serverInfo, subscription wire.Value
	relatedTask              string
}

// writeMeta writes the _meta member: what plan sets, then the members of meta
// that may travel in direction dir (§3.6). A _meta that ends up empty is left
// out. The note tells of keys that the sender may not set.
func writeMeta(w *wire.Writer, dir Dir, meta *wire.Object, plan metaPlan) Notes {
	var notes Notes
	before := len(w.Buf())
	w.Name("_meta")
	inner := wire.Begin(w.Buf())
	plan.writeHead(&inner)
	for _, m := range meta.Members() {
		switch {
		case modernMeta(m.Name):
			if dir == Up {
				notes = notes.With(NoteReservedMeta)
			}
		case legacyMeta(m.Name):
			if dir == Down {
				notes = notes.With(NoteReservedMeta)
			}
		case m.Name == wire.MetaProgressToken && (plan.envelope || plan.request):
			if m.Value != wire.Null {
				inner.Value(m.Name, plan.env.ProgressToken)
			}
		default:
			inner.Copy(m)
		}
	}
	if inner.Empty() {
		w.SetBuf(w.Buf()[:before])
		return notes
	}
	w.SetBuf(inner.End())
	return notes
}

func (p *metaPlan) writeHead(w *wire.Writer) {
	if p.envelope {
		w.Text(wire.MetaProtocolVersion, ext2026.Version)
		w.Value(wire.MetaClientInfo, p.env.ClientInfo)
		capabilities := p.env.Capabilities
		if !capabilities.Present() {
			capabilities = "{}"
		}
		w.Value(wire.MetaClientCapabilities, capabilities)
		if p.env.LogLevel != "" {
			w.Text(wire.MetaLogLevel, p.env.LogLevel)
		}
	}
	if p.relatedTask != "" {
		w.Name(wire.MetaRelatedTask)
		related := wire.Begin(w.Buf())
		related.Text("taskId", p.relatedTask)
		w.SetBuf(related.End())
	}
	w.Value(wire.MetaSubscriptionID, p.subscription)
	w.Value(wire.MetaServerInfo, p.serverInfo)
}

// modernMeta reports whether key is one that the modern era reserves.
func modernMeta(key string) bool {
	switch key {
	case wire.MetaProtocolVersion, wire.MetaClientInfo, wire.MetaClientCapabilities, wire.MetaLogLevel,
		wire.MetaServerInfo, wire.MetaSubscriptionID:
		return true
	default:
		return false
	}
}

// legacyMeta reports whether key is one that the legacy era reserves.
func legacyMeta(key string) bool {
	return key == wire.MetaRelatedTask || key == wire.MetaImmediateResponse
}

// malformed wraps the failure to read a message of the peer that dir comes from.
func malformed(dir Dir, method string, err error) error {
	failure := &Error{Dir: dir, Method: method, Err: err}
	var decode *wire.DecodeError
	if errors.As(err, &decode) {
		failure.Path = decode.Path
	}
	if dir == Down && failure.Path == "result.resultType" {
		failure.Err = errors.Join(ErrResultType, err)
	}
	return failure
}
