// Package legacy is the client of a server of MCP 2025-11-25 over Streamable
// HTTP: a handshake, a session with a standing event stream, one POST per
// message, and event streams that are resumed where they broke.
//
// Servers that negotiate an older revision are served as well; those that give
// no session id, or offer no standing stream, too. The client sends a request
// again only where that cannot do anything twice (G-6), bounds every wait (G-8),
// and answers pings itself; every other message of the server is handed on. It
// must never send a header of another revision, nor log or wrap in an error what
// a message says, a session's id, or a credential.
//
// Spec: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
// Rules: PROTOCOL.md §1.6, §1.7, §1.9, §3.8 last line.
package legacy
