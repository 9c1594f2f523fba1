// Package legacy is the face that speaks MCP 2025-11-25 to clients over
// Streamable HTTP: sessions, event streams, and what a request must look like
// before a [port.Crossing] sees it.
//
// It answers nothing that depends on a backend itself, and it never forwards a
// message of the other era: a modern claim on this route is refused. The method
// table in table.go is the only place where a method gets special treatment.
//
// Rules: PROTOCOL.md §1.2, §1.3, §1.6 (HTTP status), §1.7.
package legacy
