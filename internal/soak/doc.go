// Package soak puts a running bridge under hostile load and looks at what its
// well-behaved clients see meanwhile.
//
// The bridge and the servers behind it are processes of their own, as a user starts
// them. [Run] measures what the bridge's process keeps resident, what every kind of
// attack is answered, and whether every call of the good clients gets its own answer
// in time. It knows MCP from the outside only: the bytes here are written and read
// without any of the packages that the bridge is made of.
//
// It needs Linux: /proc for what a process holds, and the addresses of 127.0.0.0/8 to
// come from many clients.
package soak
