package handle

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// ErrUnknown is the answer to a task id that is not a handle of the caller's own on
// this route. Foreign, forged and expired ones are not told apart (A-H2).
var ErrUnknown = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Unknown task")

// Options are what a [Book] works with; all members are required.
type Options struct {
	Keys  *seal.Keys
	Store state.Store
	Env   env.Env
	// Face keeps the handles of different faces apart.
	Face string
	// Retention is how long it is remembered whose a task is, after the last use.
	Retention time.Duration
}

// Book seals and opens the task ids of one face. It is safe for concurrent use.
type Book struct {
	o     Options
	known *lru.Cache[string, entry] // by record; never the only copy of anything
}

// entry is what is remembered of a task.
type entry struct {
	handle, taskID string
	expires        time.Time
}

const (
	version   = 1
	knownSize = 16384
	// kindSealed handles hold the backend's id, kindStored the name of a record that
	// does.
	kindSealed, kindStored = 'p', 's'
	// maxTaskID and maxNames, of a backend's name and a task id together, keep
	// handles within 512 characters (A-H1).
	maxTaskID  = 160
	maxNames   = 272
	ownerBytes = 16
)

// New returns a book in which nothing is written yet.
func New(o Options) (*Book, error) {
	known, err := lru.New[string, entry](knownSize)
	if err != nil {
		return nil, err
	}
	return &Book{o: o, known: known}, nil
}

func (b *Book) purpose() string { return "task handle of its own era, " + b.o.Face + " face" }

// owners are the keyed hashes of a caller's principal, that which handles get first.
// All callers without one share them: to them a handle is a bearer capability.
func (b *Book) owners(caller port.Caller) []string {
	sums := b.o.Keys.Hashes("task owner", []byte(caller.Principal))
	out := make([]string, len(sums))
	for i := range sums {
		out[i] = hex.EncodeToString(sums[i][:ownerBytes])
	}
	return out
}

// keys name the records that may say that a task is the caller's: the first one if it
// is written down now, the others if that was before secrets were rotated.
func (b *Book) keys(backend string, caller port.Caller, taskID string) []string {
	var f seal.Fields
	f.String(b.o.Face)
	f.String(backend)
	f.String(caller.Principal)
	f.String(taskID)
	sums := b.o.Keys.Hashes("task of its owner", f.Bytes())
	out := make([]string, len(sums))
	for i := range sums {
		out[i] = "owned/" + hex.EncodeToString(sums[i][:])
	}
	return out
}

// Seal returns a handle for a task that its backend names to nobody but who asks
// for it. Nothing is remembered, unless the id is too long.
func (b *Book) Seal(ctx context.Context, backend string, caller port.Caller, taskID string) (string, error) {
	if long(backend, taskID) {
		return b.Own(ctx, backend, caller, taskID)
	}
	return b.mint(backend, caller, taskID)
}

func long(backend, taskID string) bool {
	return len(taskID) > maxTaskID || len(backend)+len(taskID) > maxNames
}

func (b *Book) mint(backend string, caller port.Caller, taskID string) (string, error) {
	var f seal.Fields
	f.Int(version)
	if long(backend, taskID) {
		f.Int(kindStored)
		f.String(backend)
		f.String(b.keys(backend, caller, taskID)[0])
	} else {
		f.Int(kindSealed)
		f.String(backend)
		f.String(taskID)
	}
	f.String(b.owners(caller)[0])
	f.Int(b.o.Env.Now().UnixMilli())
	handle, err := b.o.Keys.Seal(b.purpose(), f.Bytes())
	if err != nil {
		return "", fmt.Errorf("seal a task handle: %w", err)
	}
	return handle, nil
}

// Open returns the backend's id of the task behind a handle of the caller's. The
// error is [ErrUnknown], or that of the store.
func (b *Book) Open(ctx context.Context, backend string, caller port.Caller, handle string) (taskID string, err error) {
	plain, err := b.o.Keys.Open(b.purpose(), handle)
	if err != nil {
		return "", ErrUnknown
	}
	f := seal.ReadFields(plain)
	made, kind, route, name, owner := f.Int(), f.Int(), f.String(), f.String(), f.String()
	f.Int() // when it was made: for people
	if f.Done() != nil || made != version || route != backend || !slices.Contains(b.owners(caller), owner) {
		return "", ErrUnknown
	}
	if kind != kindStored {
		return name, nil
	}
	e, err := b.read(ctx, name)
	if errors.Is(err, state.ErrNotFound) {
		return "", ErrUnknown
	}
	return e.taskID, err
}
