package bridge

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// modernTool is what is known of a modern backend's tool: which arguments a call
// mirrors into headers, and whether its results are wrapped.
type modernTool struct{ mapping.ToolFacts }

func (t modernTool) toolName() string { return t.Name }

func (t modernTool) own() (modernTool, bool) {
	t.Name = strings.Clone(t.Name)
	headers, size := ownHeaders(t.Headers)
	t.Headers = headers
	return t, size+len(t.Name) <= maxFacts
}

func keyOf(b *Backend, caller port.Caller) listKey { return listKey{b.Name, b.Authorization(caller)} }

// learn remembers a page of tools. Params are those of the request, as a legacy
// client sends them.
func (m *Modern) learn(b *Backend, caller port.Caller, params wire.Value, page ext2026.Result, facts []mapping.ToolFacts) {
	m.catalogue.learn(keyOf(b, caller), pageOf(params.Get("cursor"), page, facts))
}

func pageOf(cursor wire.Value, page ext2026.Result, facts []mapping.ToolFacts) toolsPage[modernTool] {
	out := toolsPage[modernTool]{cursor: cursor, kept: kept(page), facts: make([]modernTool, len(facts))}
	for i, f := range facts {
		out.facts[i] = modernTool{f}
	}
	if next := page.Get("nextCursor"); next.Present() && next != wire.Null {
		// It travels as a legacy client would send it back.
		out.next = wire.Value(mapping.AppendDownCursor(nil, next))
	}
	return out
}

// kept is how long a page holds.
func kept(page ext2026.Result) time.Duration {
	ms, ok := page.Get("ttlMs").Int()
	if !ok || ms < 0 {
		return 0
	}
	return time.Duration(min(ms, maxKept.Milliseconds())) * time.Millisecond
}

// headers returns the headers that mirror a call's arguments.
func (m *Modern) headers(b *Backend, caller port.Caller, params wire.Value) ([]port.Header, error) {
	name, _ := params.Get("name").Text()
	mirrored, err := ext2026.ParamHeaders(m.catalogue.facts(keyOf(b, caller), name).Headers, params.Get("arguments"))
	if err != nil {
		return nil, err
	}
	out := make([]port.Header, len(mirrored))
	for i, h := range mirrored {
		out[i] = port.Header{Name: h.Name, Value: h.Value}
	}
	return out, nil
}

// prepare lists a backend's tools before a call of one that is not known, since
// only their schemas say which headers the call needs (§3.8). The call goes out
// without them if that fails: the backend knows best.
func (m *Modern) prepare(ctx context.Context, b *Backend, caller port.Caller, tool string) {
	if m.catalogue.known(keyOf(b, caller), tool) {
		return
	}
	// A call waits for all of this, and has a ceiling of its own.
	ctx, cancel := env.WithTimeout(ctx, m.env, walkTime, errWalkTime)
	defer cancel()
	about, err := m.discover(ctx, b, caller)
	if err != nil && errors.Is(context.Cause(ctx), errWalkTime) {
		m.catalogue.pause(m.catalogue.walkKey(keyOf(b, caller)), walkPause)
	}
	if err != nil || !about.Capabilities.Declares("tools") {
		return
	}
	// It is logged where it is read, once for all who wait.
	_ = m.relist(ctx, b, caller)
}

// relist asks a backend for all its tools.
func (m *Modern) relist(ctx context.Context, b *Backend, caller port.Caller) error {
	return m.catalogue.relist(ctx, m.logger, keyOf(b, caller), func(ctx context.Context, cursor wire.Value) (toolsPage[modernTool], error) {
		var page toolsPage[modernTool]
		raw, err := m.own(ctx, b, caller, ext2026.MethodToolsList, func(env mapping.Envelope) ([]byte, error) {
			params, _, err := mapping.AppendUpParams(nil, ext2026.MethodToolsList, cursorParams(cursor), env)
			return params, err
		})
		if err != nil {
			return page, err
		}
		result, err := mapping.ReadDownResult(ext2026.MethodToolsList, raw)
		if err != nil {
			return page, err
		}
		facts, _, err := mapping.ReadTools(result)
		return pageOf(cursor, result, facts), err
	})
}
