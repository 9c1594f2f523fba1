// Package park holds calls open whose backend has asked something, until their
// client comes back with the answers.
//
// The backend's request stays in flight meanwhile; the client gets its questions
// with a sealed state, and goes on with the call by presenting it. A state says
// which call, which round, whose and for which request: one of another caller, of
// another request or of a call that is gone is one error. An older round is told
// the present one and answers nothing.
//
// A parked call owns a connection, so it lives and dies with its process.
//
// The package sees the shapes of neither era: a question is opaque, and answering
// it is the business of whoever asked.
//
// Rules: PROTOCOL.md §4.18 (B-P1 to B-P11).
package park
