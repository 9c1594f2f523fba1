// Package legacy is the face that speaks MCP 2025-11-25 to clients over
// Streamable HTTP: sessions, event streams, and what a request must look like
// before a [port.Crossing] sees it.
//
// A stream is an object of its session: that of a POST answers the requests that
// came with it, that of a GET is the session's own. Who sends appends to it, and
// whichever connection has it at the time writes it, so that a client that comes
// back with Last-Event-ID goes on where it was. Everything that a stream holds is
// guarded by the session's lock and bounded; see buffer.go and stream.go.
//
// A crossing may have a session of its own for each of the face's; what ties the two
// together is in tie.go.
//
// It answers nothing that depends on a backend itself, and it never forwards a
// message of the other era: a modern claim on this route is refused. The method
// table in table.go is the only place where a method gets special treatment.
//
// Rules: PROTOCOL.md §1.2, §1.3, §1.6 (HTTP status), §1.7, §3.9.
package legacy
