// Package ask puts the questions of backends to clients, each exactly once.
//
// A [Table] is what is known of the questions of one task: which were listed, on
// which stream each was put to whom, and what the answer was. It is a value with
// no effects, and part of the task's record, so a question survives its process.
//
// A [Desk] is where the streams are on which a client can be asked now. For a
// task it says where a question may go: to a live tasks/result, or else to the
// stream of a session that keeps polling. For a plain call it asks, waits and
// answers by itself, since such a call does not outlive its process.
//
// The package sees the shapes of neither era; it reaches them through
// [port.QuestionDialect].
//
// Rules: PROTOCOL.md §4.4, §4.10 and §4.11, and the first lines of "Settled".
package ask
