// Package state is the seam between the bridge and the place where it keeps
// what must outlive a request: records with compare-and-set and expiry, an
// ordered index of records by owner, leases with fencing, and publish and
// subscribe (DESIGN.md §4; the entries are listed in PROTOCOL.md §5).
//
// The contract is small enough for one SQLite file and for Redis 7. Package
// statetest holds the tests that every implementation must pass.
//
// The package must never interpret a value, log one, or know what a task or a
// session is.
package state
