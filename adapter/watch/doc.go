// Package watch keeps sessions informed of changes at their backends.
//
// All sessions that reach a backend with the same credential share one
// subscription there: their filters are united, and each change is handed to
// the sessions it concerns. Sessions without a credential share one, too. A
// change of a task goes to package task, which knows its owner.
//
// A subscription that breaks is opened again with a growing delay; since changes
// may have been missed in between, one is made up for everything subscribed to.
//
// The package sees the shapes of neither era; see [port.ChangeSource].
//
// Rules: PROTOCOL.md §3.5 (with DESIGN's "One listen per"), §4.16.
package watch
