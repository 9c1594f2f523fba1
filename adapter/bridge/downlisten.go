package bridge

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/listen"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
)

// listen serves a subscription to its end (§3.5 B, §4.24).
func (d *Downgrade) listen(ctx context.Context, b *LegacyBackend, x *port.Exchange) port.Outcome {
	if x.Message.Params.Get("notifications").Get("taskIds").Present() && !x.Caller.Tasks {
		return port.Fail(errTasks)
	}
	params, err := ext2026.ParseListenParams(x.Message.Params)
	if err != nil {
		return port.Fail(err)
	}
	out := d.listens.Listen(ctx, listen.Request{
		Backend: b.Name, Caller: x.Caller, ID: x.Message.ID, Filter: changeFilter(params.Filter),
		Authorization: b.Authorization(x.Caller), Send: x.Stream.Send,
		Lease: func(ctx context.Context) (listen.Lease, error) { return d.lease(ctx, b, x.Caller, false) },
	})
	if out.Err != nil {
		return d.fail(x, out.Err)
	}
	return out
}

// stands reports whether a session has a way to tell of changes (§2.3).
func stands(ctx context.Context, session port.Session) bool {
	if s, knows := session.(port.Standing); knows {
		offered, _ := s.Standing(ctx)
		return offered
	}
	return true
}
