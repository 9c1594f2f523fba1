package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	cursorLifetime = time.Hour
	refreshTimeout = 2 * time.Second
	refreshers     = 8
)

var (
	errCursor  = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "Invalid params: params.cursor: not a cursor of this list, or expired")
	errRefresh = errors.New("the backend took too long to refresh a listed task")
)

// Page is one page of a list, rendered for the face.
type Page struct {
	Tasks []wire.Value
	// Next is the cursor of the next page; empty on the last one.
	Next string
}

// List serves tasks/list from the index of the caller's tasks (§4.14). Entries
// without an end are refreshed at the backend, within a deadline; the last state
// known stands in for those it does not answer for.
func (m *Manager) List(ctx context.Context, backend string, caller port.Caller, cursor string, given bool, size int) (Page, error) {
	owners := m.Owners(caller)
	after, err := m.openCursor(backend, owners, cursor, given)
	if err != nil {
		return Page{}, err
	}
	stored, err := m.kept(ctx, backend, owners, after, size+1)
	if err != nil {
		return Page{}, fmt.Errorf("list tasks: %w", err)
	}
	var page Page
	if len(stored) > size {
		stored = stored[:size]
		if page.Next, err = m.sealCursor(backend, owners[0], stored[size-1].Pos()); err != nil {
			return Page{}, err
		}
	}
	entries := make([]wire.Value, len(stored))
	refreshCtx, cancel := env.WithTimeout(ctx, m.Env, refreshTimeout, errRefresh)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(refreshers)
	for i := range stored {
		group.Go(func() error {
			entries[i] = m.entry(refreshCtx, backend, caller, stored[i])
			return context.Cause(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return Page{}, err
	}
	for _, e := range entries {
		if e.Present() {
			page.Tasks = append(page.Tasks, e)
		}
	}
	return page, nil
}

// kept returns the first records of an owner's tasks after a place, whichever of its
// names they are under: they are in one order.
func (m *Manager) kept(ctx context.Context, backend string, owners []string, after state.Pos, limit int) ([]state.Record, error) {
	var out []state.Record
	for _, owner := range owners {
		stored, err := m.Store.List(ctx, ownerKey(backend, owner), after, limit)
		if err != nil {
			return nil, err
		}
		out = append(out, stored...)
	}
	if len(owners) > 1 {
		slices.SortFunc(out, func(a, b state.Record) int {
			return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Key, b.Key))
		})
	}
	return out[:min(len(out), limit)], nil
}

// entry renders one listed task; absent when the task is gone (A-S3). A record
// that cannot be read costs its own place, not the list.
func (m *Manager) entry(ctx context.Context, backend string, caller port.Caller, stored state.Record) wire.Value {
	known, err := decodeRecord(stored)
	if err != nil {
		m.Logger.ErrorContext(ctx, "task not listed", "error", err)
		return ""
	}
	r, err := m.open(backend, caller, known.Handle)
	if err != nil {
		return "" // sealed with a key that is no longer accepted: as unknown as anywhere else
	}
	rec := known
	if !m.stands(&known) {
		rec, err = m.current(ctx, r, caller, false)
	}
	switch {
	case unknownTask(err):
		return ""
	case err != nil:
		rec = known
	}
	out, err := m.render(r, &rec)
	if err != nil {
		m.Logger.ErrorContext(ctx, "task not listed", "error", err)
		return ""
	}
	return out
}

func (m *Manager) sealCursor(backend, owner string, last state.Pos) (string, error) {
	var f seal.Fields
	f.String(backend)
	f.String(owner)
	f.String(last.Order)
	f.String(last.Key)
	f.Int(m.Env.Now().Add(cursorLifetime).UnixMilli())
	return m.Keys.Seal(purposeCursor, f.Bytes())
}

func (m *Manager) openCursor(backend string, owners []string, cursor string, given bool) (state.Pos, error) {
	if !given {
		return state.Pos{}, nil
	}
	plain, err := m.Keys.Open(purposeCursor, cursor)
	if err != nil {
		return state.Pos{}, errCursor
	}
	f := seal.ReadFields(plain)
	ofBackend, ofOwner := f.String(), f.String()
	last := state.Pos{Order: f.String(), Key: f.String()}
	expires := f.Int()
	if f.Done() != nil || ofBackend != backend || !slices.Contains(owners, ofOwner) || m.Env.Now().UnixMilli() > expires {
		return state.Pos{}, errCursor
	}
	return last, nil
}
