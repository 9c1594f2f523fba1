package adapter

import (
	"context"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
	"github.com/taskbridge/taskbridge/internal/env"
)

// prover knows whether backends still take their callers' credentials. It implements
// [bridge.Prover].
type prover struct {
	b        *Bridge
	backends map[string]*backend
	modern   *bridge.Modern // once it is there
}

var _ bridge.Prover = (*prover)(nil)

func (b *Bridge) newProver(backends []*backend) *prover {
	p := &prover{b: b, backends: make(map[string]*backend, len(backends))}
	for _, be := range backends {
		p.backends[be.cfg.Name] = be
	}
	return p
}

// credential is what has to be proven of a caller; empty if nothing has. A principal
// that the bridge has verified itself needs no backend, and a backend that is not shown
// the credential cannot tell.
func (p *prover) credential(be *backend, caller port.Caller) string {
	if be == nil || caller.Verified {
		return ""
	}
	return be.authorization(caller)
}

// Proven implements [bridge.Prover].
func (p *prover) Proven(backend string, caller port.Caller) bool {
	be := p.backends[backend]
	authorization := p.credential(be, caller)
	return authorization == "" || be.proofs.Proven(authorization)
}

var errProbeTime = &port.CauseError{Text: "no answer about a credential within times.probe", Public: port.TimedOut}

// Require implements [bridge.Prover].
func (p *prover) Require(ctx context.Context, backend string, caller port.Caller) error {
	be := p.backends[backend]
	authorization := p.credential(be, caller)
	if authorization == "" {
		return nil
	}
	return be.proofs.Require(ctx, authorization, func(ctx context.Context) error {
		ctx, cancel := env.WithTimeout(ctx, p.b.env, p.b.cfg.Times.Probe, errProbeTime)
		defer cancel()
		return p.show(ctx, be, caller, func() bool { return be.proofs.Proven(authorization) })
	})
}

// show shows the credential to the backend, unless finding out its era does already.
func (p *prover) show(ctx context.Context, be *backend, caller port.Caller, enough func() bool) error {
	v, err := be.era.Verdict(ctx, be.authorization(caller))
	switch {
	case err != nil || enough():
		return err
	case v.Era == probe.Legacy:
		if shown, err := p.b.pass.Show(ctx, caller); shown {
			return err
		}
		return p.b.down.Show(ctx, be.cfg.Name, caller, enough)
	default:
		return p.modern.Show(ctx, be.cfg.Name, caller)
	}
}
