// Package memnet is a network inside the process: a listener and a dialer whose
// connections are pairs of [net.Pipe].
//
// HTTP servers and clients talk over it in tests that run in fake time, where a
// real socket would block the clock; nothing ever leaves the process. It must
// never be reachable from outside and holds no protocol of its own.
package memnet
