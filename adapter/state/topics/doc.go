// Package topics hands messages to the subscribers inside one process: the
// buffers and the announcements of loss that [state.Subscription] promises. It
// is shared by the implementations of [state.Store].
//
// The package must never wait for a subscriber, and has no goroutine.
package topics
