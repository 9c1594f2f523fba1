package handle

import (
	"fmt"
	"slices"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
)

// Kind is what a backend gives to one caller, besides tasks, to be brought back to it.
type Kind string

// The kinds.
const (
	// Cursor is of a list of the caller's own things.
	Cursor Kind = "cursor"
	// State is the request state of a call that asks its client.
	State Kind = "request state"
)

const boundVersion = 1

func (b *Book) boundTo(kind Kind) string {
	return string(kind) + " of its own era, " + b.o.Face + " face"
}

// Bind returns a token in place of a value that a backend has given to this caller only,
// such as a JSON text, whose spelling it keeps.
// Nothing is remembered.
func (b *Book) Bind(kind Kind, backend string, caller port.Caller, value string) (string, error) {
	var f seal.Fields
	f.Int(boundVersion)
	f.String(backend)
	f.String(b.owners(caller)[0])
	f.String(value)
	token, err := b.o.Keys.Seal(b.boundTo(kind), f.Bytes())
	if err != nil {
		return "", fmt.Errorf("seal a %s: %w", kind, err)
	}
	return token, nil
}

// Bound returns the value behind a token of this caller's. It reports false for every
// other: foreign, forged and unknown ones are not told apart.
func (b *Book) Bound(kind Kind, backend string, caller port.Caller, token string) (value string, ok bool) {
	plain, err := b.o.Keys.Open(b.boundTo(kind), token)
	if err != nil {
		return "", false
	}
	f := seal.ReadFields(plain)
	made, route, owner, value := f.Int(), f.String(), f.String(), f.String()
	if f.Done() != nil || made != boundVersion || route != backend || !slices.Contains(b.owners(caller), owner) {
		return "", false
	}
	return value, true
}
