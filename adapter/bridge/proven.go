package bridge

import (
	"context"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// Prover knows whether a backend still takes a caller's credential (DESIGN "Principal").
type Prover interface {
	// Proven reports whether it has done so within the last minute, or nobody but the
	// bridge has to. It does not block.
	Proven(backend string, caller port.Caller) bool
	// Require returns nil if it is proven, and asks the backend where that is not known.
	// The error is the one to tell the client.
	Require(ctx context.Context, backend string, caller port.Caller) error
}

// Proven serves what the bridge itself holds to those only whose credential the backend
// has accepted within the last minute. What goes to the backend anyway is for the backend
// to judge. It is safe for concurrent use; Close must be called.
type Proven struct {
	port.Crossing

	prover Prover
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

var _ port.Crossing = (*Proven)(nil)

// NewProven returns the crossing c behind the prover.
func NewProven(c port.Crossing, prover Prover) *Proven {
	p := &Proven{Crossing: c, prover: prover}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close returns when nothing of the guard runs any more, or ctx is done.
func (p *Proven) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	return env.Join(ctx, &p.work)
}

// care is what a request takes.
type care uint8

const (
	// careful requests may be answered, and change something, without the backend: the
	// proof comes first. Every method that is not known to need less is one.
	careful care = iota
	// reading requests change nothing: the proof comes with the answer, and costs
	// nothing where the backend was asked for it.
	reading
	// forwarded requests are answered by the backend.
	forwarded
)

var cares = map[string]care{
	legacy2025.MethodInitialize:      reading,
	legacy2025.MethodLoggingSetLevel: reading, // the face keeps it after the answer
	legacy2025.MethodTasksGet:        reading,
	legacy2025.MethodTasksResult:     reading,
	legacy2025.MethodTasksList:       reading,
	ext2026.MethodServerDiscover:     reading,

	legacy2025.MethodToolsList:             forwarded,
	legacy2025.MethodToolsCall:             forwarded,
	legacy2025.MethodPromptsList:           forwarded,
	legacy2025.MethodPromptsGet:            forwarded,
	legacy2025.MethodResourcesList:         forwarded,
	legacy2025.MethodResourceTemplatesList: forwarded,
	legacy2025.MethodResourcesRead:         forwarded,
	legacy2025.MethodCompletionComplete:    forwarded,
}

// careOf is what a request takes. One that comes back with answers to what was asked
// finds a call that waits for it here.
func careOf(msg *jsonrpc.Message) care {
	if msg.Params.Get("requestState").Present() || msg.Params.Get("inputResponses").Present() {
		return careful
	}
	if _, known := mapping.Lookup(msg.Method); !known {
		return forwarded
	}
	return cares[msg.Method]
}

// Request implements [port.Crossing].
func (p *Proven) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	c := careOf(&x.Message)
	if c == forwarded {
		return p.Crossing.Request(ctx, x)
	}
	if c == careful {
		if err := p.prover.Require(ctx, x.Backend, x.Caller); err != nil {
			return port.Fail(err)
		}
	}
	out := p.Crossing.Request(ctx, p.guarded(ctx, x))
	if !tells(out) {
		return out
	}
	// It may have taken long.
	if err := p.prover.Require(ctx, x.Backend, x.Caller); err != nil {
		return port.Fail(err)
	}
	return out
}

// tells reports whether an outcome says anything that the bridge may hold: that the
// backend cannot be reached, or has refused the credential, does not.
func tells(out port.Outcome) bool { return out.Err == nil || port.IsRefusal(out.Err) }

// Answer implements [port.Crossing]: an answer may end a question that the bridge holds.
func (p *Proven) Answer(ctx context.Context, x *port.Exchange) error {
	if err := p.prover.Require(ctx, x.Backend, x.Caller); err != nil {
		return err
	}
	return p.Crossing.Answer(ctx, p.guarded(ctx, x))
}

// Attach implements [port.Crossing].
func (p *Proven) Attach(sub port.Subscriber) func() {
	sub.Push = p.push(sub.Backend, sub.Caller, sub.Push)
	return p.Crossing.Attach(sub)
}

// CheckParams implements [port.ParamChecker] in front of another: that arguments are
// wrong is said of a tool that the bridge remembers.
func (p *Proven) CheckParams(ctx context.Context, x *port.Exchange, header func(name string) []string) error {
	checker, ok := p.Crossing.(port.ParamChecker)
	if !ok {
		return nil
	}
	err := checker.CheckParams(ctx, x, header)
	if err == nil || !tells(port.Fail(err)) {
		return err
	}
	if unproven := p.prover.Require(ctx, x.Backend, x.Caller); unproven != nil {
		return unproven
	}
	return err
}

// guarded is an exchange on whose streams nothing is said that is not proven. They may
// outlive it.
func (p *Proven) guarded(ctx context.Context, x *port.Exchange) *port.Exchange {
	out := *x
	guard := func(s port.Stream) port.Stream {
		if s == nil {
			return nil
		}
		return &provenStream{Stream: s, require: func() error {
			return p.prover.Require(context.WithoutCancel(ctx), x.Backend, x.Caller)
		}}
	}
	out.Stream = guard(x.Stream)
	if own := x.Own; own != nil {
		out.Own = func() port.Stream { return guard(own()) }
	}
	if x.Push != nil {
		out.Push = p.push(x.Backend, x.Caller, x.Push)
	}
	return &out
}

// provenStream is a stream on which nothing is sent without proof.
type provenStream struct {
	port.Stream
	require func() error
}

var _ port.Withheld = (*provenStream)(nil)

// Send implements [port.Stream].
func (s *provenStream) Send(msg []byte) error {
	if err := s.require(); err != nil {
		return err
	}
	return s.Stream.Send(msg)
}

// HoldBack implements [port.Withheld].
func (s *provenStream) HoldBack() {
	if answer, ok := s.Stream.(port.Withheld); ok {
		answer.HoldBack()
	}
}
