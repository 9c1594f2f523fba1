package task

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
)

// ref identifies a task: what its handle holds.
type ref struct {
	handle  string
	serial  string // 128 random bits: names the record
	kind    kind
	backend string
	taskID  string // the backend's id; empty for hosted and stored handles
	owner   string // keyed hash of the principal
	created time.Time
}

type kind byte

const (
	kindProxied kind = 'p' // a task of the backend, its id in the handle
	kindStored  kind = 's' // a task of the backend whose id is too long for a handle
	kindHosted  kind = 'h' // a task of the bridge
)

const (
	purposeHandle = "task handle, legacy face"
	purposeCursor = "tasks/list cursor"
	labelOwner    = "task owner"

	handleVersion = 1
	serialBytes   = 16
	ownerBytes    = 16
	// maxTaskID and maxNames, of a backend's name and a task id together, keep
	// handles within 512 characters (A-H1).
	maxTaskID = 160
	maxNames  = 272
)

// Owner returns the keyed hash under which a caller's tasks are kept from now on, so
// that the store never holds a credential or a session id.
func (m *Manager) Owner(caller port.Caller) string {
	sum := m.Keys.Hash(labelOwner, []byte(caller.Principal))
	return hex.EncodeToString(sum[:ownerBytes])
}

// Owners returns every hash under which a caller's tasks may be kept, that of
// [Manager.Owner] first: tasks stay with the one they were made with when secrets are
// rotated.
func (m *Manager) Owners(caller port.Caller) []string {
	sums := m.Keys.Hashes(labelOwner, []byte(caller.Principal))
	out := make([]string, len(sums))
	for i := range sums {
		out[i] = hex.EncodeToString(sums[i][:ownerBytes])
	}
	return out
}

// mint makes the handle of a new task.
func (m *Manager) mint(k kind, backend, taskID string, caller port.Caller) (ref, error) {
	serial := make([]byte, serialBytes)
	if _, err := io.ReadFull(m.Env.Random(), serial); err != nil {
		return ref{}, fmt.Errorf("mint a task handle: %w", err)
	}
	if k == kindProxied && (len(taskID) > maxTaskID || len(backend)+len(taskID) > maxNames) {
		k = kindStored
	}
	r := ref{
		serial: hex.EncodeToString(serial), kind: k, backend: backend, taskID: taskID,
		owner: m.Owner(caller), created: m.Env.Now().Truncate(time.Millisecond),
	}
	var f seal.Fields
	f.Int(handleVersion)
	f.Int(int64(k))
	f.String(string(serial))
	f.String(backend)
	if k == kindProxied {
		f.String(taskID)
	}
	f.String(r.owner)
	f.Int(r.created.UnixMilli())
	handle, err := m.Keys.Seal(purposeHandle, f.Bytes())
	if err != nil {
		return ref{}, fmt.Errorf("seal a task handle: %w", err)
	}
	r.handle = handle
	return r, nil
}

// open returns the task behind a handle, for its owner on its backend's route
// only. Every failure is [ErrUnknown].
func (m *Manager) open(backend string, caller port.Caller, handle string) (ref, error) {
	r, err := m.read(handle)
	if err != nil || r.backend != backend || !slices.Contains(m.Owners(caller), r.owner) {
		return ref{}, ErrUnknown
	}
	return r, nil
}

// read returns the task behind a handle, whoever it belongs to.
func (m *Manager) read(handle string) (ref, error) {
	plain, err := m.Keys.Open(purposeHandle, handle)
	if err != nil {
		return ref{}, ErrUnknown
	}
	f := seal.ReadFields(plain)
	version := f.Int()
	r := ref{handle: handle, kind: kind(f.Int())} //nolint:gosec // sealed by mint
	r.serial = hex.EncodeToString([]byte(f.String()))
	r.backend = f.String()
	if r.kind == kindProxied {
		r.taskID = f.String()
	}
	r.owner = f.String()
	r.created = time.UnixMilli(f.Int())
	if f.Done() != nil || version != handleVersion {
		return ref{}, ErrUnknown
	}
	return r, nil
}
