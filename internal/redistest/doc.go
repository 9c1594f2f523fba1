// Package redistest runs real Redis servers for tests: one server, a cluster, or
// a master with a replica and sentinels, with or without TLS. Each has a port and
// a directory of its own and can be stopped, killed and started again.
//
// A test that needs it carries the build tag interop, and fails where there is
// no redis-server. The package must never be imported by what is shipped, nor
// leave a process behind.
package redistest
