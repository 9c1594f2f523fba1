package legacy_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
)

// blind is a store that does not say which processes live while it is set.
type blind struct {
	state.Store
	set *atomic.Bool
}

// Get implements [state.Store].
func (b blind) Get(ctx context.Context, key string) (state.Record, error) {
	if b.set.Load() && strings.HasPrefix(key, "process/") {
		return state.Record{}, errors.New("away")
	}
	return b.Store.Get(ctx, key)
}

// process is a rig of a process that shares its store with others.
type process struct {
	*rig
	blind atomic.Bool
}

// beside is a rig of a process that shares its store with others.
func beside(t *testing.T, first *process) *process {
	t.Helper()
	var peers *replica.Replica
	r := &process{}
	r.rig = newRig(t, func(o *legacy.Options) {
		if first != nil {
			o.Store = first.store
		}
		var err error
		peers, err = replica.New(t.Context(), replica.Options{Store: blind{o.Store, &r.blind}, Keys: o.Keys, Env: env.System(), Logger: o.Logger, Shared: true})
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

// TestHomeUnknown: a call that was passed to nobody, since the store does not say who
// lives, is refused for now, and not called one of an unknown outcome.
func TestHomeUnknown(t *testing.T) {
	bubble(t, nil, func(t *testing.T, _ *rig) {
		home := beside(t, nil)
		other := beside(t, home)
		id := home.open()
		home.crossing.on("tools/call", after(0))
		other.blind.Store(true)
		a := other.do("POST", id, call("1", "tools/call"), "Accept: application/json")
		if a.status != 503 || a.header.Get("Retry-After") == "" || strings.Contains(a.body, "interrupted") {
			t.Errorf("%d %s", a.status, a.body)
		}
		other.blind.Store(false)
		time.Sleep(time.Second)
		wantError(t, other.do("POST", id, call("1", "tools/call"), "Accept: application/json"), 200, result1)
		if n := home.crossing.calls("tools/call"); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}
