// Package ledger proves on real processes that nothing that was accepted is lost and
// that nothing runs twice (DESIGN.md §4, promises 2, 3 and 5): clients of both eras make
// tasks through three replicas of the bridge over one Redis while replicas are killed,
// stopped and started and Redis comes and goes, and in the end the books of the clients,
// of the backends and of the one who killed have to agree.
//
// Everything in it is test code behind the build tag interop, since it needs
// redis-server: `make ledger` runs two minutes of it and writes docs/ledger.md, CI runs
// a short form of every part.
//
// The clients must retry as the protocol allows and never more: a call of a tool whose
// outcome is unknown is not made again.
package ledger
