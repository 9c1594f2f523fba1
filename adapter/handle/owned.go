package handle

import (
	"context"
	"errors"
	"fmt"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
)

// Own notes that a task is the caller's, and returns its handle, which stays the
// same as long as it is remembered. It is durable when Own returns.
func (b *Book) Own(ctx context.Context, backend string, caller port.Caller, taskID string) (string, error) {
	return b.note(ctx, backend, caller, taskID, "")
}

// Keep notes that the task behind a handle, which the caller has just used, is the
// caller's, for the case that this was forgotten.
func (b *Book) Keep(ctx context.Context, backend string, caller port.Caller, taskID, handle string) error {
	_, err := b.note(ctx, backend, caller, taskID, handle)
	return err
}

// Find returns the caller's handle of a task, and false when the task is not known
// to be the caller's.
func (b *Book) Find(ctx context.Context, backend string, caller port.Caller, taskID string) (handle string, found bool, err error) {
	_, e, err := b.find(ctx, b.keys(backend, caller, taskID))
	if errors.Is(err, state.ErrNotFound) || err == nil && b.dead(e) {
		return "", false, nil
	}
	return e.handle, err == nil, err
}

// find returns the first of these records that there is, and its key. The error may be
// [state.ErrNotFound].
func (b *Book) find(ctx context.Context, keys []string) (key string, e entry, err error) {
	for _, key = range keys {
		if e, err = b.read(ctx, key); !errors.Is(err, state.ErrNotFound) {
			return key, e, err
		}
	}
	return keys[0], entry{}, err
}

// dead reports whether a handle was sealed with a secret that is not accepted any more:
// its task needs another.
func (b *Book) dead(e entry) bool {
	_, err := b.o.Keys.Open(b.purpose(), e.handle)
	return err != nil
}

var errRecord = errors.New("whose a task is: not a record of this package")

// note finds a record or makes it. Who is slower than another takes the other's.
func (b *Book) note(ctx context.Context, backend string, caller port.Caller, taskID, handle string) (string, error) {
	keys := b.keys(backend, caller, taskID)
	for {
		key, e, err := b.find(ctx, keys)
		switch {
		case err == nil && b.dead(e):
			e.handle = handle
		case err == nil && e.expires.Sub(b.o.Env.Now()) > b.o.Retention/2:
			return e.handle, nil
		case err == nil: // it is renewed as it is
		case !errors.Is(err, state.ErrNotFound):
			return "", err
		default:
			e = entry{handle: handle, taskID: taskID}
		}
		cond := state.Always
		if err != nil {
			cond = state.IfAbsent
		}
		if e.handle == "" {
			if e.handle, err = b.mint(backend, caller, taskID); err != nil {
				return "", err
			}
		}
		if err = b.write(ctx, key, e, cond); err == nil {
			return e.handle, nil
		}
		if !errors.Is(err, state.ErrConflict) {
			return "", err
		}
	}
}

func (b *Book) write(ctx context.Context, key string, e entry, cond state.Cond) error {
	e.expires = b.o.Env.Now().Add(b.o.Retention)
	var f seal.Fields
	f.Int(version)
	f.String(e.handle)
	f.String(e.taskID)
	if _, err := b.o.Store.Put(ctx, state.Record{Key: key, Value: f.Bytes(), Expires: e.expires}, cond); err != nil {
		return fmt.Errorf("note whose a task is: %w", err)
	}
	b.known.Add(key, e)
	return nil
}

// read returns the record called key. The error may be [state.ErrNotFound].
func (b *Book) read(ctx context.Context, key string) (entry, error) {
	if e, ok := b.known.Get(key); ok && b.o.Env.Now().Before(e.expires) {
		return e, nil
	}
	stored, err := b.o.Store.Get(ctx, key)
	if err != nil {
		return entry{}, fmt.Errorf("whose a task is: %w", err)
	}
	f := seal.ReadFields(stored.Value)
	made := f.Int()
	e := entry{handle: f.String(), taskID: f.String(), expires: stored.Expires}
	if f.Done() != nil || made != version {
		return entry{}, errRecord
	}
	b.known.Add(key, e)
	return e, nil
}
