// Package transport is what the clients of both eras share of HTTP: a hardened
// client, exchanges that end in time, answers within limits, event streams, and
// the judgement of failures.
//
// It knows no era, no method and no header of MCP's. It never follows a
// redirect, never lets net/http send a POST twice, and must never log or wrap
// in an error what a peer says, or a credential.
//
// Rules: PROTOCOL.md G-6, G-8, §1.6.
package transport
