// Package statetest is the contract of [state.Store] as a test, run by every
// implementation.
//
// It must never depend on how an implementation works, nor wait for the wall
// clock.
package statetest
