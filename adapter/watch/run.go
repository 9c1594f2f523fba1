package watch

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// reading is an open subscription and the goroutine that reads it.
type reading struct {
	stream port.ChangeStream
	ended  chan error
	// old is the subscription this one takes over from, or nil.
	old *reading
	// repeated holds the keys that the successor has delivered; nil before there
	// is one. Guarded by the share's lock.
	repeated map[string]struct{}
}

// run keeps the subscription of a share in line with what is wanted.
func (sh *share) run() {
	ctx := sh.w.ctx
	var (
		current *reading
		backoff time.Duration
		missed  bool
	)
	defer func() { current.close() }()
	for {
		var ended <-chan error
		if current != nil {
			ended = current.ended
		}
		select {
		case <-sh.kick:
			if env.Sleep(ctx, sh.w.Env, burst) != nil {
				return
			}
		case err := <-ended:
			sh.lost()
			current.close()
			current, missed = nil, true
			sh.note(err)
			backoff = next(backoff)
			if env.Sleep(ctx, sh.w.Env, jitter(backoff)) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
		caller, want, any := sh.wanted()
		if !any {
			sh.lost()
			current.close()
			current, missed, backoff = nil, false, 0
			continue
		}
		if sh.covered(want) {
			continue
		}
		fresh, err := sh.openReading(ctx, caller, want, current)
		if err != nil {
			sh.failed(subscribeError(err))
			if current == nil {
				backoff = next(backoff)
				sh.retry(backoff)
			}
			continue
		}
		current, backoff = fresh, 0
		if missed {
			missed = false
			for _, c := range sh.w.Source.Synthesize(fresh.stream.Honoured()) {
				sh.deliver(c)
			}
		}
	}
}

func subscribeError(err error) error {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return jsonrpc.NewError(jsonrpc.CodeInternal, "the backend refused the subscription: %s", rpc.Message)
	}
	return jsonrpc.NewError(jsonrpc.CodeInternal, "the backend did not accept the subscription")
}

func (sh *share) note(err error) {
	if !errors.Is(err, io.EOF) {
		sh.w.Logger.InfoContext(sh.w.ctx, "subscription lost", "backend", sh.backend, "error", err)
	}
}

// retry asks for another attempt after a while.
func (sh *share) retry(after time.Duration) {
	sh.w.Env.AfterFunc(jitter(after), sh.changed)
}

func next(backoff time.Duration) time.Duration {
	return min(max(2*backoff, firstBackoff), lastBackoff)
}

func jitter(d time.Duration) time.Duration {
	// Neither secret nor visible in a message.
	return d + time.Duration(rand.Float64()*0.2*float64(d)) //nolint:gosec // see above
}

// openReading opens a subscription and settles everyone who waits for it. The
// one it takes over from is read a little longer, since it may still hold
// changes from before; what both report is delivered once.
func (sh *share) openReading(ctx context.Context, caller port.Caller, want port.ChangeFilter, old *reading) (*reading, error) {
	openCtx, cancel := context.WithCancelCause(ctx)
	stop := sh.w.Env.AfterFunc(ackTimeout, func() { cancel(errNotAcked) })
	stream, err := sh.w.Source.Listen(openCtx, sh.backend, caller, want)
	if !stop() && err == nil {
		stream.Close()
		err = errNotAcked
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	sh.opened(want, stream.Honoured())
	r := &reading{stream: stream, ended: make(chan error, 1), old: old}
	if old != nil {
		sh.mu.Lock()
		old.repeated = make(map[string]struct{})
		sh.mu.Unlock()
		sh.w.Env.AfterFunc(overlap, old.close)
	}
	sh.w.work.Go(func() {
		defer cancel(nil)
		r.ended <- sh.read(r)
	})
	return r, nil
}

// read delivers what a subscription reports until it ends.
func (sh *share) read(r *reading) error {
	for {
		c, err := r.stream.Next()
		if err != nil {
			return err
		}
		if sh.first(r, c.Key) {
			sh.deliver(c)
		}
	}
}

// first reports whether no successor has delivered a change of this key, and
// keeps the predecessor from delivering it again.
func (sh *share) first(r *reading, key string) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if r.old != nil && r.old.repeated != nil {
		r.old.repeated[key] = struct{}{}
	}
	_, repeated := r.repeated[key]
	return !repeated
}

func (r *reading) close() {
	if r != nil {
		r.stream.Close()
	}
}
