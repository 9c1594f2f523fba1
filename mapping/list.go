package mapping

import (
	"strings"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// ResultOptions says for whom the result of a modern server is rendered.
type ResultOptions struct {
	// Version is the revision negotiated with the client; empty means
	// [legacy2025.Latest]. What an older one does not know is dropped (§3.9).
	Version string
	// Tasks is true when tasks were offered to this session; for tools/list.
	Tasks bool
	// Wrapped is true when the tool's output schema was wrapped or omitted, see
	// [ToolFacts]; for tools/call.
	Wrapped bool
	// RelatedTask is the handle of the task that a result of tools/call
	// belongs to, for the answer to tasks/result; empty for none.
	RelatedTask string
}

func (o *ResultOptions) version() string {
	if o.Version == "" {
		return legacy2025.Latest
	}
	return o.Version
}

// ReadDownResult reads the result of a modern server for method and interprets
// its type (G-15). An invalid one is an [*Error], which the client gets as
// -32603; it wraps [ErrResultType] when the type is at fault.
func ReadDownResult(method string, result wire.Value) (ext2026.Result, error) {
	in, err := ext2026.ParseResult(method, result)
	if err != nil {
		return ext2026.Result{}, malformed(Down, method, err)
	}
	return in, nil
}

// AppendDownResult appends the complete result of method as a legacy one. The
// results of methods that neither era knows lose their resultType and the
// reserved keys of _meta, nothing else. For tools/list use
// [AppendDownToolsList], which also returns what has to be remembered.
//
// Spec: 2026-07-28 "ResultType", "Caching", "Pagination". Rules G-15, §3.3,
// §3.6, §3.9, §6.1.
// Loss: ttlMs and cacheScope of a cacheable result, with a note; resultType,
// serverInfo and subscriptionId, which the bridge consumes.
func AppendDownResult(dst []byte, method string, in ext2026.Result, opts ResultOptions) ([]byte, Notes, error) {
	switch method {
	case ext2026.MethodToolsCall:
		return AppendDownCallResult(dst, in, opts)
	case ext2026.MethodToolsList:
		out, _, notes, err := AppendDownToolsList(dst, in, opts)
		return out, notes, err
	}
	d, err := newDownResult(dst, method, in)
	if err != nil {
		return dst, 0, err
	}
	for _, m := range in.Members() {
		if d.handled(m) {
			continue
		}
		if done, lost := writeOlder(&d.w, method, m, opts.version()); done {
			d.notes |= lost
			continue
		}
		d.w.Copy(m)
	}
	return d.end(metaPlan{})
}

// downResult is the part that all modern results share.
type downResult struct {
	w      wire.Writer
	method string
	meta   wire.Object
	notes  Notes
	list   bool
}

func newDownResult(dst []byte, method string, in ext2026.Result) (downResult, error) {
	if in.Type != ext2026.ResultComplete {
		return downResult{}, &Error{Dir: Down, Method: method, Path: "result.resultType", Err: ErrResultType}
	}
	err := ext2026.CheckResult(method, in.Object)
	if err != nil {
		return downResult{}, malformed(Down, method, err)
	}
	meta, err := wire.OptionalObject(in.Get("_meta"), "result._meta")
	if err != nil {
		return downResult{}, malformed(Down, method, err)
	}
	return downResult{w: wire.Begin(dst), method: method, meta: meta, list: ext2026.ItemsMember(method) != ""}, nil
}

// handled writes, drops or defers m if it is a member that any result has, and
// reports whether it did. The _meta member is written by end.
func (d *downResult) handled(m wire.Member) bool {
	switch m.Name {
	case "resultType", "_meta":
		return true
	case "ttlMs", "cacheScope":
		if !ext2026.Cacheable(d.method) {
			return false
		}
		d.notes = d.notes.With(NoteCacheHints)
		return true
	case "inputRequests", "requestState":
		if !ext2026.Asks(d.method) {
			return false
		}
		d.notes = d.notes.With(NoteStrayMember)
		return true
	case "nextCursor":
		if !d.list {
			return false
		}
		d.writeCursor(m)
		return true
	default:
		return false
	}
}

func (d *downResult) writeCursor(m wire.Member) {
	if m.Value == wire.Null { // no more pages
		return
	}
	d.w.Name(m.Name)
	before := len(d.w.Buf())
	d.w.SetBuf(AppendDownCursor(d.w.Buf(), m.Value))
	if string(d.w.Buf()[before:]) != string(m.Value) {
		d.notes = d.notes.With(NoteCursor)
	}
}

func (d *downResult) end(plan metaPlan) ([]byte, Notes, error) {
	d.notes |= writeMeta(&d.w, Down, &d.meta, plan)
	return d.w.End(), d.notes, nil
}

// UpResultOptions says what the bridge adds to the result of a legacy server.
type UpResultOptions struct {
	// ServerInfo is the server's Implementation from its InitializeResult
	// (B-L5); absent says nothing.
	ServerInfo wire.Value
}

// AppendUpResult appends the result of method as a complete modern one. For
// tools/list use [AppendUpToolsList], which also returns what has to be
// remembered.
//
// Spec: 2026-07-28 "ResultType", "Caching". Rules B-L5, §3.3, §3.6, §6.2.
// Loss: a resultType, cache hints and members of a retry that a legacy server
// made up, with a note; related-task, which the bridge consumes.
func AppendUpResult(dst []byte, method string, result wire.Value, opts UpResultOptions) ([]byte, Notes, error) {
	switch method {
	case legacy2025.MethodToolsList:
		out, _, notes, err := AppendUpToolsList(dst, result, opts)
		return out, notes, err
	case legacy2025.MethodToolsCall:
		return AppendUpCallResult(dst, result, opts)
	case legacy2025.MethodCompletionComplete:
		return AppendUpComplete(dst, result, opts)
	}
	u, err := newUpResult(dst, method, result)
	if err != nil {
		return dst, 0, err
	}
	for _, m := range u.obj.Members() {
		if !u.handled(m) {
			u.w.Copy(m)
		}
	}
	return u.end(opts)
}

// upResult is the part that all results of legacy servers share.
type upResult struct {
	w         wire.Writer
	method    string
	obj, meta wire.Object
	notes     Notes
}

func newUpResult(dst []byte, method string, result wire.Value) (upResult, error) {
	obj, err := wire.ParseObject(result, "result")
	if err == nil {
		err = legacy2025.CheckResult(method, obj)
	}
	if err != nil {
		return upResult{}, malformed(Up, method, err)
	}
	meta, err := wire.OptionalObject(obj.Get("_meta"), "result._meta")
	if err != nil {
		return upResult{}, malformed(Up, method, err)
	}
	u := upResult{w: wire.Begin(dst), method: method, obj: obj, meta: meta}
	u.w.Text("resultType", string(ext2026.ResultComplete))
	return u, nil
}

// handled drops or defers m if the bridge writes the member itself, and reports
// whether it did.
func (u *upResult) handled(m wire.Member) bool {
	stray := false
	switch m.Name {
	case "_meta":
		return true
	case "nextCursor":
		return m.Value == wire.Null && ext2026.ItemsMember(u.method) != "" // no more pages
	case "resultType":
		stray = true
	case "ttlMs", "cacheScope":
		stray = ext2026.Cacheable(u.method)
	case "inputRequests", "requestState":
		stray = ext2026.Asks(u.method)
	}
	if stray {
		u.notes = u.notes.With(NoteStrayMember)
	}
	return stray
}

func (u *upResult) end(opts UpResultOptions) ([]byte, Notes, error) {
	if ext2026.Cacheable(u.method) {
		u.w.Int("ttlMs", 0)
		u.w.Text("cacheScope", "private")
	}
	u.notes |= writeMeta(&u.w, Up, &u.meta, metaPlan{serverInfo: opts.ServerInfo})
	return u.w.End(), u.notes, nil
}

// cursorMark starts the aliases of cursors: a cursor that is empty or starts
// with it is told with one more in front. No two cursors share an alias.
const cursorMark = "~"

// AppendDownCursor appends a modern nextCursor as a legacy client may see it.
// Legacy clients take the empty string for the end of the list, so it gets an
// alias; every other cursor but those that look like one is copied (§3.3).
func AppendDownCursor(dst []byte, cursor wire.Value) []byte {
	text, ok := cursor.Text()
	if ok && (text == "" || strings.HasPrefix(text, cursorMark)) {
		return append(append(dst, '"'), cursorMark+string(cursor[1:])...)
	}
	return append(dst, cursor...)
}

// AppendUpCursor is the inverse of [AppendDownCursor]. A cursor that is no alias
// is copied.
func AppendUpCursor(dst []byte, cursor wire.Value) []byte {
	text, ok := cursor.Text()
	if !ok || text != cursorMark && !strings.HasPrefix(text, cursorMark+cursorMark) {
		return append(dst, cursor...)
	}
	if inner, found := strings.CutPrefix(string(cursor), `"`+cursorMark); found {
		return append(append(dst, '"'), inner...)
	}
	return wire.AppendString(dst, text[len(cursorMark):])
}
