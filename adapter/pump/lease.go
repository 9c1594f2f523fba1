package pump

import (
	"context"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
)

// leaseTTL is how long a process that waits for a task is believed alive after its
// last sign.
const leaseTTL = 9 * time.Second

func leaseName(r ref) string { return "pump/" + r.serial }

// hold takes the lease of a task. The returned context ends when it is lost; drop
// gives it up and has to be called.
func (m *Manager) hold(ctx context.Context, r ref) (held context.Context, token int64, drop func(), err error) {
	return state.Hold{
		Store: m.Store, Env: m.Env, Name: leaseName(r), Holder: m.Process.ID(), TTL: leaseTTL,
		Trouble: func(ctx context.Context, err error) {
			m.Logger.WarnContext(ctx, "lease of a task not kept", "error", port.Reason(err))
		},
	}.Take(ctx)
}
