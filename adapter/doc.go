// Package adapter puts the bridge together: a configuration goes in, an HTTP
// handler and Run come out.
//
// [New] builds everything and touches the network not yet; [Bridge.Run] opens
// the listeners, serves until its context ends and drains within one deadline.
// A program with a gin engine of its own uses [Bridge.Register] instead.
//
// The parts know each other only through package port.
package adapter
