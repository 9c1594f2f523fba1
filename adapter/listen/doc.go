// Package listen serves the subscriptions of clients that have no session at
// backends that have them: a subscription is one request with a stream of its own,
// and what it is told comes from a session at its backend.
//
// A subscription holds its session for as long as it lives, and begins once the
// session's standing stream is there and the backend has decided on every
// resource. Those of one session share its resources: the first to want one
// subscribes to it, and when the last has gone it is given up, in the background.
// Each change is handed to the subscriptions that it concerns; one whose client
// reads slowly keeps the newest change of each kind and holds up nobody.
//
// When the backend has forgotten the session, another takes its place and the
// clients are told that everything may have changed. Failing that, the
// subscriptions end gracefully, as they do when the bridge stops.
//
// The package sees the shapes of neither era; see [port.ListenDialect]. It must
// never tell a subscription what it was not granted, nor decide what is shared:
// who may use which session is its lender's to say.
//
// Rules: PROTOCOL.md §3.5 B, §4.24, §1.7, Q26.
package listen
