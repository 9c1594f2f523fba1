// Package sized remembers values up to a number of bytes: what is remembered of a peer
// is the peer's to size, so that counting alone bounds nothing. It never holds the only
// copy of anything.
package sized
