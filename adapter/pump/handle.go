package pump

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
	taskID  string     // the backend's id; empty for hosted and stored handles
	place   port.Place // of its session; zero for stored handles
	owner   string     // keyed hash of the principal; empty for a bearer handle
	created time.Time
}

type kind byte

const (
	kindProxied kind = 'p' // a task of the backend, its id and session in the handle
	kindStored  kind = 's' // a task of the backend with names too long for a handle
	kindHosted  kind = 'h' // a task of the bridge
)

const (
	// purposeHandle tags the face: a handle of another does not open (Q42).
	purposeHandle = "task handle, modern face"
	handleVersion = 1
	serialBytes   = 16
	// maxNames is how long the names in a handle may be, all together: it is sent
	// as a header.
	maxNames = 1024
)

// owner is whose the tasks of a caller are from now on; nobody's for one without a
// principal.
func (m *Manager) owner(caller port.Caller) string {
	if caller.Principal == "" {
		return ""
	}
	return m.Owners(caller)[0]
}

// owns reports whether tasks of an owner are the caller's. Those of nobody are a
// caller's without a principal.
func (m *Manager) owns(caller port.Caller, owner string) bool {
	if caller.Principal == "" {
		return owner == ""
	}
	return slices.Contains(m.Owners(caller), owner)
}

// mint makes the handle of a new task.
func (m *Manager) mint(k kind, backend, taskID string, place port.Place, caller port.Caller) (ref, error) {
	serial := make([]byte, serialBytes)
	if _, err := io.ReadFull(m.Env.Random(), serial); err != nil {
		return ref{}, fmt.Errorf("mint a task handle: %w", err)
	}
	if k == kindProxied && len(backend)+len(taskID)+len(place.ID)+len(place.Version)+len(place.Owner)+len(place.Capabilities) > maxNames {
		k = kindStored
	}
	r := ref{
		serial: hex.EncodeToString(serial), kind: k, backend: backend,
		owner: m.owner(caller), created: m.Env.Now().Truncate(time.Millisecond),
	}
	var f seal.Fields
	f.Int(handleVersion)
	f.Int(int64(k))
	f.String(string(serial))
	f.String(backend)
	f.String(r.owner)
	f.Int(r.created.UnixMilli())
	if k == kindProxied {
		r.taskID, r.place = taskID, place
		f.String(taskID)
		f.String(place.ID)
		f.String(place.Version)
		f.String(place.Owner)
		f.String(place.Capabilities)
	}
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
	plain, err := m.Keys.Open(purposeHandle, handle)
	if err != nil {
		return ref{}, ErrUnknown
	}
	r, ok := readRef(plain)
	if !ok || r.backend != backend || !m.owns(caller, r.owner) {
		return ref{}, ErrUnknown
	}
	r.handle = handle
	return r, nil
}

// readRef reads what a handle holds.
func readRef(plain []byte) (ref, bool) {
	f := seal.ReadFields(plain)
	version := f.Int()
	r := ref{kind: kind(f.Int())} //nolint:gosec // sealed by mint
	r.serial = hex.EncodeToString([]byte(f.String()))
	r.backend = f.String()
	r.owner = f.String()
	r.created = time.UnixMilli(f.Int())
	if r.kind == kindProxied {
		r.taskID = f.String()
		r.place.ID = f.String()
		r.place.Version = f.String()
		r.place.Owner = f.String()
		r.place.Capabilities = f.String()
	}
	return r, f.Done() == nil && version == handleVersion && len(r.serial) == 2*serialBytes
}

// Verify reports whether a handle is of a task of this backend and this caller:
// nil, or [ErrUnknown]. It asks neither the store nor the backend.
func (m *Manager) Verify(backend string, caller port.Caller, handle string) error {
	_, err := m.open(backend, caller, handle)
	return err
}
