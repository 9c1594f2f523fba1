package pump

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

const (
	// sendPatience is how long a process that gives an answer to the backend is
	// believed to be at it.
	sendPatience = 15 * time.Second
	// resendFirst and resendMax bound the pause before an answer is given again to a
	// backend that cannot be reached.
	resendFirst = time.Second
	resendMax   = 10 * time.Second
)

// hand gives the backend the answers on record. What it cannot be given now is given
// later.
func (m *Manager) hand(ctx context.Context, l *live, caller port.Caller) {
	if !m.handOver(ctx, l, caller) {
		m.handLater(l, caller)
	}
}

// handLater gives the backend the answers on record until it has them all.
func (m *Manager) handLater(l *live, caller port.Caller) {
	l.mu.Lock()
	busy := l.handing
	l.handing = true
	l.mu.Unlock()
	if busy {
		return
	}
	done := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.handing = false
	}
	if !m.spawn(func() {
		defer done()
		for pause := resendFirst; !m.handOver(m.ctx, l, caller) && !l.left(); pause = min(2*pause, resendMax) {
			if env.Sleep(m.ctx, m.Env, m.jitter(pause)) != nil {
				return
			}
		}
	}) {
		done()
	}
}

// resend sees to answers on record that nobody gives to the backend any more: the
// process that took them has died, or could not reach the store.
func (m *Manager) resend(l *live, rec *record) {
	for _, a := range rec.Asks {
		if m.mine(a) {
			l.mu.Lock()
			caller := l.caller
			l.mu.Unlock()
			m.handLater(l, caller)
			return
		}
	}
}

// mine reports whether this process has to give an answer to the backend.
func (m *Manager) mine(a *ask) bool {
	return a.State == askAnswered && (a.Sender == m.Process.ID() || m.Env.Now().Sub(time.UnixMilli(a.Sending)) > sendPatience)
}

// handOver gives the backend the answers that this process has to give, one process
// and one goroutine at a time, and reports whether none is left.
func (m *Manager) handOver(ctx context.Context, l *live, caller port.Caller) bool {
	select {
	case l.giving <- struct{}{}:
		defer func() { <-l.giving }()
	case <-ctx.Done():
		return false
	case <-m.ctx.Done():
		return true // they are on record for another process
	}
	var todo []ask
	_, err := m.change(ctx, l.ref, func(rec *record) bool {
		todo = nil
		if rec.Final {
			return false
		}
		for _, a := range rec.Asks {
			if m.mine(a) {
				a.Sender, a.Sending = m.Process.ID(), m.Env.Now().UnixMilli()
				todo = append(todo, *a)
			}
		}
		return len(todo) > 0
	})
	switch {
	case errors.Is(err, ErrUnknown):
		return true
	case err != nil:
		m.Logger.WarnContext(ctx, "answer not given to the backend yet", "error", port.Reason(err))
		return false
	}
	ctx, cancel := m.bind(ctx, partingTime, errParting) // well within sendPatience
	defer cancel()
	all := true
	for i := range todo {
		all = m.give(ctx, l, caller, &todo[i]) && all
	}
	return all
}

// give gives the backend one answer, and reports whether it has it or can have it no
// more.
func (m *Manager) give(ctx context.Context, l *live, caller port.Caller, a *ask) bool {
	err := l.respond(ctx, caller, a)
	if err != nil {
		m.Logger.InfoContext(ctx, "answer not taken by the backend", "backend", l.ref.backend, "error", port.Reason(err))
		if again(err) {
			return false
		}
	}
	_, err = m.change(context.WithoutCancel(ctx), l.ref, func(rec *record) bool {
		return rec.drop(func(b *ask) bool { return b.Key == a.Key && b.ID == a.ID })
	})
	if err != nil && !errors.Is(err, ErrUnknown) {
		m.Logger.WarnContext(ctx, "answer given to the backend not recorded", "error", port.Reason(err))
		return false
	}
	l.moved()
	return true
}

// respond gives the backend an answer in the session in which it has asked. That is
// another one if the backend has forgotten the task's, and processes have gone on in
// different ones.
func (l *live) respond(ctx context.Context, caller port.Caller, a *ask) error {
	lease, err := l.lend(ctx, caller)
	if err == nil && lease.Place().Ticket != a.Place.Ticket {
		if lease, err = l.m.Sessions.Resume(ctx, l.ref.backend, caller, a.Place); err == nil {
			defer lease.Release()
		}
	}
	if err != nil {
		return err
	}
	return a.tell(ctx, lease.Session())
}

// again reports whether it is worth giving an answer once more: the backend could
// not be reached, or not now. What it refuses it has no use for.
func again(err error) bool {
	var upstream *port.UpstreamError
	if errors.Is(err, port.ErrSessionLost) || !errors.As(err, &upstream) {
		return !errors.Is(err, port.ErrSessionLost) && !answeredError(err)
	}
	switch upstream.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	default:
		return upstream.Status == 0 || upstream.Status >= http.StatusInternalServerError
	}
}

// answeredError reports whether err is the backend's own.
func answeredError(err error) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc)
}
