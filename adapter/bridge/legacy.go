package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// LegacyBackend is a legacy backend and how it is reached.
type LegacyBackend struct {
	// Name is the {backend} of the routes.
	Name string
	// Lease returns a session whose client has exactly the capabilities asked for.
	Lease func(ctx context.Context, o LeaseOptions) (Lease, error)
	// Resume returns the session at a place, which it must have been given by a
	// lease of the same backend; if the backend has forgotten it, one with the same
	// capabilities. It is not exclusive.
	Resume func(ctx context.Context, place Place, o LeaseOptions) (Lease, error)
	// Authorization is the Authorization header that a caller's requests carry.
	Authorization func(caller port.Caller) string
	// Info is who the backend has said last that it is; absent before it has said
	// anything. It may be nil.
	Info func() wire.Value
	// HostedTTL is the lifetime that a task is asked for (B-T1), and that of a task
	// of the bridge. HostGrace is the wait before a call becomes one, if HostSlow is
	// set, or HostAuto and the backend has tasks for other tools (host_tasks).
	HostedTTL, HostGrace time.Duration
	HostSlow, HostAuto   bool
	// DriveRequired serves a tool that wants a task to clients without tasks (Q7).
	DriveRequired bool
}

// Place is where a session is found again, also by another process.
type Place = port.Place

// LeaseOptions say which session a request is served on (B-U1).
type LeaseOptions struct {
	// Owner is the keyed hash of the caller's principal, or empty for a caller
	// without one: it shares no session on which it can be asked something.
	Owner string
	// Hello is what a session is opened with, if there is none yet.
	Hello port.Hello
	// Exclusive sessions serve one call at a time: whatever the backend asks on
	// one belongs to that call (B-U6).
	Exclusive bool
}

// Lease is the use of a session.
type Lease interface {
	port.LentSession
	// Hear has the messages that the backend sends outside every exchange handed
	// to hear, until the lease is released. Only an exclusive lease has them.
	Hear(hear func(msg jsonrpc.Message))
	// Linger says that the backend may have something to say after the lease.
	Linger()
}

// DowngradeOptions are what a [Downgrade] works with. All members are required unless
// they say otherwise.
type DowngradeOptions struct {
	Backends []*LegacyBackend
	Lot      *park.Lot
	Rounds   *park.Rounds
	Tasks    *pump.Manager
	Env      env.Env
	Logger   *slog.Logger
	// Owners returns the keyed hashes of a caller's principal, the current one first:
	// what was sealed under another before secrets were rotated is the caller's all the
	// same.
	Owners func(caller port.Caller) []string
	Times  Times
}

// bridgeInfo is who the bridge says it is where a client has not said who it is
// (B-U2).
const bridgeInfo = wire.Value(`{"name":"taskbridge","version":"0"}`)

// maxHello bounds what a client says of itself, in bytes: each session of it keeps that.
const maxHello = 64 << 10

// lease finds a session for a caller.
func (d *Downgrade) lease(ctx context.Context, b *LegacyBackend, caller port.Caller, exclusive bool) (Lease, error) {
	o, err := d.leaseOptions(b, caller)
	if err != nil {
		return nil, err
	}
	o.Exclusive = exclusive
	return b.Lease(ctx, o)
}

// Show shows a caller's credential to a backend: with a ping, on a session that it has
// been given to, unless one has to be opened, which shows it as well. Enough reports
// whether that was so.
func (d *Downgrade) Show(ctx context.Context, backend string, caller port.Caller, enough func() bool) error {
	b := d.backends[backend]
	if b == nil {
		return errNoBackend
	}
	if caller.Version != ext2026.Version { // what it says of itself is of the other era
		caller.ClientInfo, caller.Capabilities = "", "{}"
	}
	lease, err := d.lease(ctx, b, caller, false)
	if err != nil {
		return err
	}
	defer lease.Release()
	if enough() {
		return nil
	}
	_, err = lease.Do(ctx, port.SessionCall{Method: legacy2025.MethodPing, Params: "{}", Authorization: b.Authorization(caller)})
	return err
}

// leaseOptions describe the sessions on which a caller is served.
func (d *Downgrade) leaseOptions(b *LegacyBackend, caller port.Caller) (LeaseOptions, error) {
	return leaseOptions(b, caller, d.owners)
}

func leaseOptions(b *LegacyBackend, caller port.Caller, owners func(port.Caller) []string) (LeaseOptions, error) {
	capabilities, _, err := mapping.AppendDownClientCapabilities(nil, caller.Capabilities, legacy2025.Latest)
	if err != nil {
		return LeaseOptions{}, err
	}
	if len(capabilities)+len(caller.ClientInfo) > maxHello {
		return LeaseOptions{}, wire.Wrong("params._meta", "less about the client")
	}
	o := LeaseOptions{
		Hello: port.Hello{
			ClientInfo: caller.ClientInfo, Capabilities: wire.Value(capabilities), Authorization: b.Authorization(caller),
		},
	}
	if !o.Hello.ClientInfo.Present() {
		o.Hello.ClientInfo = bridgeInfo
	}
	if caller.Principal != "" {
		o.Owner = owners(caller)[0]
	}
	return o, nil
}

// asks reports whether a backend may ask a caller anything.
func asks(capabilities wire.Value) bool {
	for _, kind := range []string{"elicitation", "sampling", "roots"} {
		if capabilities.Get(kind).IsObject() {
			return true
		}
	}
	return false
}

// logsAlone reports whether a caller needs a session that no other has to be told what is
// logged: many backends do not say for which request that is (§3.4).
func logsAlone(caller port.Caller) bool { return caller.Principal == "" && caller.LogLevel != "" }

// binding ties a parked call to its caller and to what was asked: the request
// without what changes between its repetitions (B-P2).
func (d *Downgrade) binding(x *port.Exchange) park.Binding {
	sum := sha256.New()
	sum.Write([]byte(x.Message.Method))
	for m := range x.Message.Params.Members() {
		switch m.Name {
		case "_meta", "inputResponses", "requestState":
		default:
			w := wire.Begin(nil)
			w.Copy(m)
			sum.Write(w.End())
		}
	}
	b := park.Binding{Backend: x.Backend, Digest: hex.EncodeToString(sum.Sum(nil))}
	if x.Caller.Principal != "" {
		all := d.owners(x.Caller)
		b.Owner, b.Former = all[0], all[1:]
	}
	return b
}
