// Package modern is the client of a server of MCP 2026-07-28 over Streamable
// HTTP: one POST per request, answered by a JSON document or by an event stream
// of its own, and long-lived subscriptions.
//
// Every request gets an id of its own and the headers that mirror its body. The
// client keeps no session and sends none of another revision's headers. It sends
// a request again only where that cannot do anything twice (A-U6, G-6), bounds
// every wait (G-8), and aborts the HTTP exchange to cancel, which is this
// revision's cancellation (§1.7). It must never log or wrap in an error what a
// message says, or a credential.
//
// Spec: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
// Rules: PROTOCOL.md §1.5, §1.6, §1.7, §3.8.
package modern
