// Package pump keeps the tasks of backends with sessions for a face that has none.
//
// A task's handle is a sealed token that names its backend, the session it lives
// in, its id there and its owner; that of an anonymous caller belongs to whoever
// holds it. Any process can go on with a handle, and a task is reachable even when
// the store is lost.
//
// A backend hands out a task's questions only while somebody waits for its result.
// So at the first sign that a task needs input the bridge waits for it, one process
// at a time under a lease of the store, until the task is over. A question is on
// record before anyone is shown it, and so is an answer before the backend gets it;
// an answer that a crash has cut off is given again.
//
// The end of a task is fetched once and kept until the task's lifetime is over; what
// the backend says after it changes nothing.
//
// A hosted task is a call that takes long at a backend that makes no task of it.
// From the outside it is like any other.
//
// The package sees the shapes of neither era. A task document is an opaque value
// that it reads and renders through [port.SessionTaskDialect].
//
// Rules: PROTOCOL.md §4.19 to §4.24 (B-T2 to B-T6, B-G1 to B-G7, B-I1 to B-I10),
// "Settled" (host_tasks, coalescing).
package pump
