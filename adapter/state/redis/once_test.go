//go:build interop

package redis

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/redistest"
)

// lostAnswer lets the server carry commands out and loses the answers.
type lostAnswer struct {
	lose atomic.Bool
	sent atomic.Int64
	err  error
}

func (h *lostAnswer) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *lostAnswer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if name := cmd.Name(); h.lose.Load() && err == nil && (name == "evalsha" || name == "eval" || name == "spublish" || name == "get") {
			h.sent.Add(1)
			cmd.SetErr(h.err)
			return h.err
		}
		return err
	}
}

func (h *lostAnswer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if !h.lose.Load() || err != nil {
			return err
		}
		for _, cmd := range cmds {
			h.sent.Add(1)
			cmd.SetErr(h.err)
		}
		return h.err
	}
}

// TestAWriteIsSentOnce loses the answer to every kind of write: each must be
// reported as uncertain, and none may be sent again, neither by the client
// library nor by the one for clusters, which has ideas of its own.
func TestAWriteIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, lost := range []error{io.EOF, &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}} {
		t.Run(lost.Error(), func(t *testing.T) {
			t.Parallel()
			t.Run("one server", func(t *testing.T) {
				r := newRig(t, redistest.Start(t, redistest.Options{}).URL(), nil)
				hook := &lostAnswer{err: lost}
				r.client.AddHook(hook)
				sentOnce(r, hook)
			})
			t.Run("cluster", func(t *testing.T) {
				r := newRig(t, redistest.StartCluster(t, 3, redistest.Options{}).URL(), nil)
				hook := &lostAnswer{err: lost}
				cluster, ok := r.client.(*redis.ClusterClient)
				if !ok {
					t.Fatalf("client %T", r.client)
				}
				// Under the cluster's client, which tries other nodes.
				r.must(cluster.ForEachMaster(t.Context(), func(_ context.Context, node *redis.Client) error {
					node.AddHook(hook)
					return nil
				}))
				sentOnce(r, hook)
			})
		})
	}
}

func sentOnce(r *rig, hook *lostAnswer) {
	r.Helper()
	ctx := r.Context()
	rev, err := r.Put(ctx, state.Record{Key: "old"}, state.Always)
	r.must(err)
	lease, err := r.Acquire(ctx, "held", "me", 1e12)
	r.must(err)
	for name, write := range map[string]func() error{
		"put":     func() error { _, err := r.Put(ctx, state.Record{Key: "new"}, state.IfAbsent); return err },
		"delete":  func() error { return r.Delete(ctx, "old", state.IfRev(rev)) },
		"acquire": func() error { _, err := r.Acquire(ctx, "free", "me", 1e12); return err },
		"renew":   func() error { return lease.Renew(ctx, 1e12) },
		"publish": func() error { return r.Publish(ctx, "t", nil) },
	} {
		hook.lose.Store(true)
		hook.sent.Store(0)
		err := write()
		hook.lose.Store(false)
		if !errors.Is(err, ErrUncertain) || errors.Is(err, ErrUnavailable) {
			r.Errorf("%s: got error %v, want %v", name, err, ErrUncertain)
		}
		if sent := hook.sent.Load(); sent != 1 {
			r.Errorf("%s was sent %d times", name, sent)
		}
	}
	// All of them have happened.
	_, err = r.Get(ctx, "new")
	r.must(err)
	if _, err := r.Get(ctx, "old"); !errors.Is(err, state.ErrNotFound) {
		r.Errorf("the record was not deleted: %v", err)
	}
	if _, err := r.Acquire(ctx, "free", "you", 1e12); !errors.Is(err, state.ErrHeld) {
		r.Errorf("the lease was not taken: %v", err)
	}
	// A read may be made again.
	hook.lose.Store(true)
	hook.sent.Store(0)
	_, err = r.Get(ctx, "new")
	hook.lose.Store(false)
	if sent := hook.sent.Load(); sent != 2 || !errors.Is(err, ErrUnavailable) {
		r.Errorf("get was sent %d times and failed with %v", sent, err)
	}
}
