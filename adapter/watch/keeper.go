package watch

import (
	"errors"
	"io"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// keeper keeps the subscription of a share in line with what is wanted. It
// belongs to one goroutine.
type keeper struct {
	*share
	current *reading
	offered port.ChangeFilter // the lists whose changes the backend announces
	backoff time.Duration
	retry   env.Timer // its C is nil while no attempt is put off
	missed  bool      // changes may have been missed since a subscription was open
}

func (k *keeper) run() {
	for k.wait() && k.adjust() {
		continue
	}
	k.close()
}

// wait returns when there may be something to do, and false at the end.
func (k *keeper) wait() bool {
	ctx := k.w.ctx
	var ended <-chan error
	if k.current != nil {
		ended = k.current.ended
	}
	select {
	case <-k.kick:
		return env.Sleep(ctx, k.w.Env, burst) == nil
	case err := <-ended:
		if !errors.Is(err, io.EOF) && ctx.Err() == nil {
			k.w.Logger.InfoContext(ctx, "subscription lost", "backend", k.key.backend, "error", port.Reason(err))
		}
		k.putOff()
		k.close()
		k.missed = true
	case <-k.retry.C:
		k.retry = env.Timer{}
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// adjust brings the subscription in line, and returns false when the share is
// not needed any more.
func (k *keeper) adjust() bool {
	if k.w.retire(k.share) {
		return false
	}
	caller, found := k.speaker()
	if !found {
		k.rest()
		return true
	}
	if k.retry.C != nil && !k.eager() {
		return true // only somebody who waits is worth an attempt before its time
	}
	if k.asking() && !k.ask(caller) {
		return true
	}
	want, something := k.wanted(k.offered)
	if !something {
		k.rest()
		return true
	}
	all, butTasks := k.covered(want)
	switch now := k.w.Env.Now(); {
	case all:
	case butTasks && now.Before(k.current.since.Add(taskPause)):
		k.retry = k.w.Env.NewTimer(k.current.since.Add(taskPause).Sub(now))
	default:
		k.reopen(caller, want)
	}
	return true
}

// ask learns what the backend offers. A backend that cannot say it cannot be
// subscribed to either.
func (k *keeper) ask(caller port.Caller) bool {
	ctx, cancel := env.WithTimeout(k.w.ctx, k.w.Env, ackTimeout, errNotAcked)
	defer cancel()
	offered, _, err := k.w.Source.Offered(ctx, k.key.backend, caller)
	if err != nil {
		k.askAgain()
		want, _ := k.wanted(k.offered)
		k.refused(want, err)
		return false
	}
	k.offered = offered
	return true
}

// reopen replaces the subscription, or opens the first one.
func (k *keeper) reopen(caller port.Caller, want port.ChangeFilter) {
	fresh, err := k.listen(caller, want, k.current)
	if err != nil {
		k.refused(want, err)
		return
	}
	k.retry = env.Timer{}
	if k.current != nil && k.current.dead() {
		k.missed = true // it did not last until it was relieved
	}
	k.current = fresh
	if !k.missed {
		return
	}
	k.missed = false
	for _, c := range k.w.Source.Synthesize(fresh.stream.Honoured()) {
		k.deliver(c)
	}
}

// refused answers those who wait, and puts off the next attempt.
func (k *keeper) refused(want port.ChangeFilter, err error) {
	if k.w.ctx.Err() != nil {
		return
	}
	k.w.Logger.WarnContext(k.w.ctx, "backend not watched", "backend", k.key.backend, "error", port.Reason(err))
	k.failed(want.URIs, subscribeError(err))
	k.missed = k.missed || k.current == nil
	k.putOff()
}

func subscribeError(err error) error {
	var (
		upstream *port.UpstreamError
		rpc      *jsonrpc.Error
	)
	if !errors.As(err, &upstream) && errors.As(err, &rpc) {
		return jsonrpc.NewError(jsonrpc.CodeInternal, "the backend refused the subscription: %s", rpc.Message)
	}
	return jsonrpc.NewError(jsonrpc.CodeInternal, "the backend did not accept the subscription")
}

// rest closes the subscription while there is nothing to subscribe to.
func (k *keeper) rest() {
	k.close()
	k.retry = env.Timer{}
	k.missed, k.backoff = false, 0
}

func (k *keeper) close() {
	k.lost()
	k.end(k.current)
	k.current = nil
}

// putOff plans the next attempt. The delay grows while subscriptions fail or do
// not hold.
func (k *keeper) putOff() {
	if k.current != nil && k.w.Env.Now().Sub(k.current.since) >= lastBackoff {
		k.backoff = 0
	}
	k.backoff = min(max(2*k.backoff, firstBackoff), lastBackoff)
	k.retry = k.w.Env.NewTimer(k.w.jitter(k.backoff))
}
