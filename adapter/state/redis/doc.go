// Package redis keeps state in Redis 7 or later, shared by several bridges: one
// server, a cluster, or a master that sentinels watch. Package redisurl has the
// URLs.
//
// Keys are PREFIX:1:{BUCKET}:KIND:NAME. The bucket is a hash of the name, and
// what must change together (a record and the counter of its revisions) is in
// one bucket and so in one slot. 1 is the version of this layout. Every write is
// one script, so it is atomic. Where everything is on one server the script also
// writes the index of the owner; in a cluster that is elsewhere and written
// before the record, so that a crash between leaves an entry without a record
// and never a record without an entry ([Store.Put] and index.lua have the rules).
//
// Revisions and fencing tokens are the larger of the bucket's counter plus one
// and the server's clock in microseconds: they grow even if the counter is lost
// with the last writes before a crash.
//
// Messages are sharded (SPUBLISH), and all of them in one slot: a single
// connection then hears everything, in the order of each publisher, and is cut
// by the server when the slot moves. Plain messages of a cluster may be lost or
// reordered between nodes without anybody noticing.
//
// The package must never send a write twice that the server may have carried
// out, wait for a server that is known to be down, or put a password or a value
// into a log or an error.
package redis
