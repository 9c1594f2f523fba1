// Package authtest is an issuer of tokens for tests: it signs, publishes a key set,
// rotates its keys, and is down or talks nonsense when it is told to. It must never
// be part of what is shipped.
package authtest
