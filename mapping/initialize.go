package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// InitializeOptions says what the bridge makes of a modern server for a legacy
// client.
type InitializeOptions struct {
	// Version is the negotiated revision; empty means [legacy2025.Latest].
	Version string
	// FallbackName names a server that does not say who it is (A-L3).
	FallbackName string
	// CanListen is true when changes can be delivered; otherwise neither
	// listChanged nor subscribe is offered (§2.1).
	CanListen bool
	// Tasks is true when the bridge can drive tasks for this client. They are
	// offered if the server has them, tools and the revision allow it; the list
	// is always offered with them.
	Tasks bool
}

// ReadDownDiscover reads the result of server/discover. An invalid one is an
// [*Error], which the client gets as -32603.
func ReadDownDiscover(result wire.Value) (ext2026.DiscoverResult, error) {
	in, err := ext2026.ParseDiscoverResult(result)
	if err != nil {
		return ext2026.DiscoverResult{}, malformed(Down, ext2026.MethodServerDiscover, err)
	}
	return in, nil
}

// ReadUpInitialize reads the result of initialize. An invalid one is an
// [*Error], which the client gets as -32603.
func ReadUpInitialize(result wire.Value) (legacy2025.InitializeResult, error) {
	in, err := legacy2025.ParseInitializeResult(result)
	if err != nil {
		return legacy2025.InitializeResult{}, malformed(Up, legacy2025.MethodInitialize, err)
	}
	return in, nil
}

// AppendDownInitialize appends the InitializeResult that a legacy client is told
// of a modern server.
//
// Spec: 2025-11-25 "Initialization"; 2026-07-28 "Discovery". Rules A-L2, A-L3,
// A-L5, §2.1, §3.9. A server that does not speak 2026-07-28 is
// [ErrNoCounterpart].
// Loss: supportedVersions and cache hints, and what the revision does not know,
// with a note.
func AppendDownInitialize(dst []byte, in ext2026.DiscoverResult, opts InitializeOptions) ([]byte, Notes, error) {
	if opts.Version == "" {
		opts.Version = legacy2025.Latest
	}
	if !in.Supports(ext2026.Version) {
		return dst, 0, &Error{
			Dir: Down, Method: ext2026.MethodServerDiscover, Path: "result.supportedVersions", Err: ErrNoCounterpart,
		}
	}
	meta, err := wire.OptionalObject(in.Get("_meta"), "result._meta")
	if err != nil {
		return dst, 0, malformed(Down, ext2026.MethodServerDiscover, err)
	}
	w := wire.Begin(dst)
	w.Text("protocolVersion", opts.Version)
	var notes Notes
	for _, m := range in.Members() {
		switch m.Name {
		case "capabilities":
			w.Name(m.Name)
			buf, lost, err := AppendDownServerCapabilities(w.Buf(), in.Capabilities, opts)
			if err != nil {
				return dst, 0, err
			}
			w.SetBuf(buf)
			notes |= lost
		case "supportedVersions":
			notes = notes.With(NoteVersions)
		case "ttlMs", "cacheScope":
			notes = notes.With(NoteCacheHints)
		case "resultType", "_meta", "serverInfo", "protocolVersion":
		default:
			w.Copy(m)
		}
	}
	notes |= writeServerInfo(&w, in.ServerInfo, opts)
	notes |= writeMeta(&w, Down, &meta, metaPlan{})
	return w.End(), notes, nil
}

func writeServerInfo(w *wire.Writer, info wire.Value, opts InitializeOptions) Notes {
	w.Name("serverInfo")
	inner := wire.Begin(w.Buf())
	if !info.Present() {
		inner.Text("name", opts.FallbackName)
		inner.Text("version", "0")
	}
	var notes Notes
	for m := range info.Members() {
		if knowsInfo(m.Name, opts.Version) {
			inner.Copy(m)
		} else {
			notes = notes.With(NoteOlderRevision)
		}
	}
	w.SetBuf(inner.End())
	return notes
}

// knowsInfo reports whether an Implementation of the revision has the member.
func knowsInfo(member, version string) bool {
	switch member {
	case "icons", "description", "websiteUrl":
		return legacy2025.HasIcons(version)
	case "title":
		return legacy2025.HasStructuredContent(version)
	default:
		return true
	}
}

// DiscoverOptions says what the bridge makes of a legacy server for a modern
// client.
type DiscoverOptions struct {
	// CanListen is true when the server has a way to tell the bridge about
	// changes (§2.3).
	CanListen bool
	// HostTasks is true when the bridge hosts tasks for servers that have none.
	HostTasks bool
}

// AppendUpDiscover appends the DiscoverResult that a modern client is told of a
// legacy server.
//
// Spec: 2026-07-28 "Discovery". Rules B-L4, B-L5, §2.3.
// Loss: the tasks capability beyond the fact that tools can run as tasks, and
// protocolVersion.
func AppendUpDiscover(dst []byte, in legacy2025.InitializeResult, opts DiscoverOptions) ([]byte, Notes, error) {
	meta, err := wire.OptionalObject(in.Get("_meta"), "result._meta")
	if err != nil {
		return dst, 0, malformed(Up, legacy2025.MethodInitialize, err)
	}
	w := wire.Begin(dst)
	w.Text("resultType", string(ext2026.ResultComplete))
	w.Value("supportedVersions", `["`+ext2026.Version+`"]`)
	var notes Notes
	for _, m := range in.Members() {
		switch m.Name {
		case "capabilities":
			w.Name(m.Name)
			buf, lost, err := AppendUpServerCapabilities(w.Buf(), in.Capabilities, in.ProtocolVersion, opts)
			if err != nil {
				return dst, 0, err
			}
			w.SetBuf(buf)
			notes |= lost
		case "resultType", "supportedVersions", "ttlMs", "cacheScope":
			notes = notes.With(NoteStrayMember)
		case "protocolVersion", "serverInfo", "_meta":
		default:
			w.Copy(m)
		}
	}
	w.Int("ttlMs", 0)
	w.Text("cacheScope", "private")
	notes |= writeMeta(&w, Up, &meta, metaPlan{serverInfo: in.ServerInfo})
	return w.End(), notes, nil
}
