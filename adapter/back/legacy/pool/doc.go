// Package pool keeps the sessions that the bridge has at one server of an era
// with sessions, and lends them out.
//
// A session serves one principal with one set of capabilities (B-U1), at most one
// call at a time that may be asked something (B-U6), and is never closed while
// something depends on it (B-U5). One that the server has forgotten is replaced
// once per request (B-U4). The package must never lend a session to another key,
// nor look into a message.
//
// Rules: PROTOCOL.md §1.9.
package pool
