package legacy_test

import (
	"context"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/internal/env"
)

// beside is a rig of a process that shares its store with others.
func beside(t *testing.T, first *rig) *rig {
	t.Helper()
	var peers *replica.Replica
	r := newRig(t, func(o *legacy.Options) {
		if first != nil {
			o.Store = first.store
		}
		var err error
		peers, err = replica.New(t.Context(), replica.Options{Store: o.Store, Keys: o.Keys, Env: env.System(), Logger: o.Logger, Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		o.Peers = peers
	})
	peers.Serve(engine(r.face))
	t.Cleanup(func() {
		if err := peers.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestHomeCloses: what is passed to a process whose face is closed, but which still
// lives, was not served, and is served by who has passed it.
func TestHomeCloses(t *testing.T) {
	bubble(t, nil, func(t *testing.T, _ *rig) {
		home := beside(t, nil)
		other := beside(t, home)
		id := home.open()
		wantError(t, other.do("POST", id, call("1", "ping")), 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		if err := home.face.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			wantError(t, other.do("POST", id, call("1", "ping")), 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}
	})
}
