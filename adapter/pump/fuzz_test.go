package pump_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
)

// FuzzHandle: whatever a client presents as a task id, sealed or not, and whatever is
// in it, is a task of at most one caller on one route, or [pump.ErrUnknown] and
// nothing else (§4.23, B-G5).
func FuzzHandle(f *testing.F) {
	keys, err := seal.New([][]byte{[]byte("0123456789abcdef")}, env.System().Random())
	if err != nil {
		f.Fatal(err)
	}
	alone, err := replica.New(f.Context(), replica.Options{Env: env.System()})
	if err != nil {
		f.Fatal(err)
	}
	m, err := pump.New(pump.Options{Process: alone, Keys: keys, Env: env.System(), Owners: func(c port.Caller) []string { return []string{"hash of " + c.Principal} }})
	if err != nil {
		f.Fatal(err)
	}
	const serial = "0123456789abcdef"
	plain := func(kind int64, owner string, more ...string) []byte {
		var w seal.Fields
		w.Int(1)
		w.Int(kind)
		w.String(serial)
		w.String("quarry")
		w.String(owner)
		w.Int(0)
		for _, s := range more {
			w.String(s)
		}
		return w.Bytes()
	}
	const purpose = "task handle, modern face"
	sealed, err := keys.Seal(purpose, plain('p', "hash of alice", "LT1", "LS-1", "2025-11-25", "", ""))
	if err != nil {
		f.Fatal(err)
	}
	if err := m.Verify("quarry", port.Caller{Principal: "alice"}, sealed); err != nil {
		f.Fatalf("a genuine handle: %v", err)
	}
	f.Add(sealed, plain('p', "hash of alice", "LT1", "LS-1", "2025-11-25", "", ""))
	f.Add("LT1", plain('s', ""))
	f.Add("", plain('h', "hash of bob"))
	f.Add(sealed[1:], plain('p', ""))
	f.Add("AAAA", []byte(nil))
	f.Fuzz(func(t *testing.T, token string, inside []byte) {
		handles := []string{token}
		if made, err := keys.Seal(purpose, inside); err == nil {
			handles = append(handles, made)
		}
		for _, handle := range handles {
			found := 0
			for _, backend := range []string{"quarry", "basalt"} {
				for _, principal := range []string{"", "alice", "bob"} {
					switch err := m.Verify(backend, port.Caller{Principal: principal}, handle); err {
					case nil:
						found++
					case pump.ErrUnknown: //nolint:errorlint // the client must not tell why
					default:
						t.Errorf("error %v", err)
					}
				}
			}
			if found > 1 {
				t.Errorf("%q is a task of %d callers", handle, found)
			}
		}
	})
}
