package bridge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
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

// relist reads a list of tools from its first page to its last, and remembers it.
// Fetch reads the page of a cursor. Those who need the list at the same time share
// the reading; that it failed is logged once for all of them.
func (c *catalogue[F]) relist(
	ctx context.Context, logger *slog.Logger, list listKey, fetch func(ctx context.Context, cursor wire.Value) (toolsPage[F], error),
) error {
	key := c.walkKey(list)
	_, err := c.walks.Do(ctx, key, func(ctx context.Context) (struct{}, error) {
		ctx, cancel := env.WithTimeout(ctx, c.env, walkTime, errWalkTime)
		defer cancel()
		err := c.walk(ctx, list, fetch)
		if err != nil && (ctx.Err() == nil || errors.Is(context.Cause(ctx), errWalkTime)) {
			c.pause(key, walkPause)
			logger.WarnContext(ctx, "tools not listed", "backend", list.backend, "error", port.Reason(err))
		}
		return struct{}{}, err
	})
	return err
}

func (c *catalogue[F]) walk(ctx context.Context, list listKey, fetch func(ctx context.Context, cursor wire.Value) (toolsPage[F], error)) error {
	var cursor wire.Value
	for range maxPages {
		page, err := fetch(ctx, cursor)
		if err != nil {
			return err
		}
		c.learn(list, page)
		if !page.next.Present() {
			return nil
		}
		cursor = page.next
	}
	return errEndless
}

// cursorParams are the params that ask for the page of a cursor.
func cursorParams(cursor wire.Value) wire.Value {
	w := wire.Begin(nil)
	w.Value("cursor", cursor)
	return wire.Value(w.End())
}

// ownHeaders copies what is known of mirrored arguments, and counts its bytes.
func ownHeaders(headers []ext2026.ParamHeader) (own []ext2026.ParamHeader, size int) {
	own = slices.Clone(headers)
	for i := range own {
		h := &own[i]
		h.Name, h.Path = strings.Clone(h.Name), slices.Clone(h.Path)
		size += len(h.Name)
		for j, step := range h.Path {
			h.Path[j] = strings.Clone(step)
			size += len(step)
		}
	}
	return own, size
}
