package handle

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
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

// owner is the keyed hash of a caller's principal. All callers without one share a
// hash: to them a handle is a bearer capability.
func (b *Book) owner(caller port.Caller) string {
	sum := b.o.Keys.Hash("task owner", []byte(caller.Principal))
	return hex.EncodeToString(sum[:ownerBytes])
}

// key names the record that says that a task is the caller's.
func (b *Book) key(backend string, caller port.Caller, taskID string) string {
	var f seal.Fields
	f.String(b.o.Face)
	f.String(backend)
	f.String(b.owner(caller))
	f.String(taskID)
	sum := b.o.Keys.Hash("task of its owner", f.Bytes())
	return "owned/" + hex.EncodeToString(sum[:])
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
		f.String(b.key(backend, caller, taskID))
	} else {
		f.Int(kindSealed)
		f.String(backend)
		f.String(taskID)
	}
	f.String(b.owner(caller))
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
	if f.Done() != nil || made != version || route != backend || owner != b.owner(caller) {
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
