package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

const (
	// maxPages ends the walk through a list that never ends, walkTime one that
	// takes too long: a call waits for it.
	maxPages = 100
	walkTime = 10 * time.Second
	// walkPause is the time after a list that could not be read in which calls do
	// not try to.
	walkPause = time.Minute
)

var (
	errWalkTime = errors.New("the tools could not be listed in time")
	errEndless  = errors.New("the list of tools does not end")
)

// prepare lists a backend's tools before a call of one that is not known, since
// only their schemas say which headers the call needs (§3.8). The call goes out
// without them if that fails: the backend knows best.
func (m *Modern) prepare(ctx context.Context, b *Backend, caller port.Caller, tool string) {
	if m.catalogue.known(b, caller, tool) {
		return
	}
	about, err := m.discover(ctx, b, caller)
	if err != nil || !about.Capabilities.Declares("tools") {
		return
	}
	// It is logged where it is read, once for all who wait.
	_ = m.relist(ctx, b, caller)
}

// relist asks a backend for all its tools. Those who need them at the same time
// share the answer.
func (m *Modern) relist(ctx context.Context, b *Backend, caller port.Caller) error {
	key := m.catalogue.walkKey(b, caller)
	_, err := m.catalogue.walks.Do(ctx, key, func(ctx context.Context) (struct{}, error) {
		ctx, cancel := env.WithTimeout(ctx, m.env, walkTime, errWalkTime)
		defer cancel()
		err := m.walk(ctx, b, caller)
		if err != nil && (ctx.Err() == nil || errors.Is(context.Cause(ctx), errWalkTime)) {
			m.catalogue.pause(key, walkPause)
			m.logger.WarnContext(ctx, "tools not listed", "backend", b.Name, "error", port.Reason(err))
		}
		return struct{}{}, err
	})
	return err
}

// walk reads the list of tools from its first page to its last.
func (m *Modern) walk(ctx context.Context, b *Backend, caller port.Caller) error {
	var cursor wire.Value
	for range maxPages {
		w := wire.Begin(nil)
		w.Value("cursor", cursor)
		asked := wire.Value(w.End())
		raw, err := m.own(ctx, b, caller, ext2026.MethodToolsList, func(env mapping.Envelope) ([]byte, error) {
			params, _, err := mapping.AppendUpParams(nil, ext2026.MethodToolsList, asked, env)
			return params, err
		})
		if err != nil {
			return err
		}
		page, err := mapping.ReadDownResult(ext2026.MethodToolsList, raw)
		if err != nil {
			return err
		}
		facts, _, err := mapping.ReadTools(page)
		if err != nil {
			return err
		}
		m.catalogue.learn(b, caller, asked, page, facts)
		// The cursor travels as a legacy client would send it back.
		next := page.Get("nextCursor")
		if !next.Present() || next == wire.Null {
			return nil
		}
		cursor = wire.Value(mapping.AppendDownCursor(nil, next))
	}
	return errEndless
}
