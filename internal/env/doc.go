// Package env holds what the outside world gives the bridge: the time, timers,
// randomness and freshly minted ids.
//
// Everything in adapter takes an [Env] instead of calling package time or a
// random source, so that whole conversations run in fake time in tests and a
// replay is deterministic in the shipped binary. A lint rule forbids the bare
// functions there. The package must never keep state of its own.
package env
