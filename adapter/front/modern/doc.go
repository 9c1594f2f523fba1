// Package modern is the face that speaks MCP 2026-07-28 to clients over Streamable
// HTTP: what a request must look like, step by step, before a [port.Crossing] sees
// it, and how its answer is written.
//
// Nothing is remembered between two requests. Each is judged by its own _meta; the
// client that closes its connection has cancelled it, and no stream can be resumed.
// A request is served on the goroutine of its handler, and whoever has something to
// send before the answer writes it at once, as an event; see stream.go.
//
// It answers nothing that depends on a backend itself, sends no requests, mints no
// session ids, and refuses the methods of the other era without knowing them: what
// it does not serve by name, and no vendor can have named, is unknown. Only
// initialize is told where it belongs.
//
// Rules: PROTOCOL.md §1.6 (HTTP status), §1.7, §1.8, §3.8 (decoding), §6.2.
package modern
