package bridge

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// legacyTool is what is known of a legacy backend's tool: whether it runs as a task,
// and which arguments its callers mirror into headers.
type legacyTool struct{ mapping.LegacyToolFacts }

func (t legacyTool) toolName() string { return t.Name }

func (t legacyTool) own() (legacyTool, bool) {
	t.Name = strings.Clone(t.Name)
	t.TaskSupport = legacy2025.TaskSupport(strings.Clone(string(t.TaskSupport)))
	headers, size := ownHeaders(t.Headers)
	t.Headers = headers
	return t, size+len(t.Name) <= maxFacts
}

// CheckParams implements [port.ParamChecker]: the headers that mirror the arguments
// of a call say what the arguments say (Q15).
func (d *Downgrade) CheckParams(ctx context.Context, x *port.Exchange, header func(name string) []string) error {
	b := d.backends[x.Backend]
	if b == nil {
		return errNoBackend
	}
	tool, err := d.tool(ctx, b, x)
	if err != nil {
		return err
	}
	err = matchHeaders(tool.Headers, x.Message.Params, header)
	if err != nil && tool.TaskSupport == legacy2025.TaskRequired && !x.Caller.Tasks && !b.DriveRequired {
		return d.lacking(ctx, b, x, err)
	}
	return err
}

// matchHeaders checks the headers that mirror the arguments of a call. Its error is
// -32020 (HTTP 400).
func matchHeaders(mirrored []ext2026.ParamHeader, params wire.Value, header func(name string) []string) error {
	var twice *ext2026.HeaderError
	err := ext2026.MatchParamHeaders(mirrored, params.Get("arguments"), func(name string) (string, bool) {
		values := header(name)
		switch len(values) {
		case 0:
			return "", false
		case 1:
		default:
			twice = &ext2026.HeaderError{Header: name, Want: "sent more than once"}
		}
		return values[0], true
	})
	var wrong *ext2026.HeaderError
	switch {
	case twice != nil:
		wrong = twice
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return err
	}
	return &port.StatusError{
		Status: http.StatusBadRequest, Err: jsonrpc.NewError(ext2026.CodeHeaderMismatch, "Header mismatch: %s", wrong),
	}
}

// lacking says that the client of a call with the wrong headers lacks what the tool
// takes: that comes first (§1.8). It returns wrong where the backend makes no tasks.
func (d *Downgrade) lacking(ctx context.Context, b *LegacyBackend, x *port.Exchange, wrong error) error {
	lease, err := d.lease(ctx, b, x.Caller, false)
	if err != nil {
		return err
	}
	defer lease.Release()
	if makesTasks(lease) {
		return errTasks
	}
	return wrong
}

// tool returns what is known of the tool that a call names. It is looked up first
// where that may say something (B-T1); the call goes on without if that fails.
func (d *Downgrade) tool(ctx context.Context, b *LegacyBackend, x *port.Exchange) (legacyTool, error) {
	name, _ := x.Message.Params.Get("name").Text()
	o, err := d.leaseOptions(b, x.Caller)
	if err != nil {
		return legacyTool{}, err
	}
	key := o.list(b)
	if !d.catalogue.known(key, name) {
		// It is logged where it is read, once for all who wait.
		_ = d.relist(ctx, b, x.Caller, key)
		if err := context.Cause(ctx); err != nil {
			return legacyTool{}, err
		}
	}
	return d.catalogue.facts(key, name), nil
}

// list is whose list of tools the sessions of o are shown. What a client says of itself
// may be long; its sum is not.
func (o LeaseOptions) list(b *LegacyBackend) listKey {
	sum := sha256.Sum256([]byte(o.Hello.Capabilities))
	return listKey{b.Name, o.Owner + "\x00" + string(sum[:])}
}

// relist asks a backend for all its tools.
func (d *Downgrade) relist(ctx context.Context, b *LegacyBackend, caller port.Caller, key listKey) error {
	return d.catalogue.relist(ctx, d.logger, key, func(ctx context.Context, cursor wire.Value) (toolsPage[legacyTool], error) {
		lease, err := d.lease(ctx, b, caller, false)
		if err != nil {
			return toolsPage[legacyTool]{}, err
		}
		defer lease.Release()
		raw, err := lease.Do(ctx, port.SessionCall{
			Method: legacy2025.MethodToolsList, Params: cursorParams(cursor), Authorization: b.Authorization(caller),
		})
		if err != nil {
			return toolsPage[legacyTool]{}, err
		}
		_, facts, _, err := mapping.AppendUpToolsList(nil, raw, mapping.UpResultOptions{})
		return legacyPage(cursor, raw, facts), err
	})
}

func legacyPage(cursor, raw wire.Value, facts []mapping.LegacyToolFacts) toolsPage[legacyTool] {
	out := toolsPage[legacyTool]{cursor: cursor, facts: make([]legacyTool, len(facts))}
	for i, f := range facts {
		out.facts[i] = legacyTool{f}
	}
	// An empty cursor is the end of the list to clients of that era.
	if next, ok := raw.Get("nextCursor").Text(); ok && next != "" {
		out.next = raw.Get("nextCursor")
	}
	return out
}

// learn remembers a page of tools that a caller has asked for.
func (d *Downgrade) learn(b *LegacyBackend, x *port.Exchange, raw wire.Value, facts []mapping.LegacyToolFacts) {
	if o, err := d.leaseOptions(b, x.Caller); err == nil {
		d.catalogue.learn(o.list(b), legacyPage(x.Message.Params.Get("cursor"), raw, facts))
	}
}
