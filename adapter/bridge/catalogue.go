package bridge

import (
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/flight"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// catalogue remembers what tools/list has said of tools, F, beyond what a client is
// told. What one credential was told holds for that credential only (§3.8).
// Everything in it can be asked for again.
type catalogue[F toolFacts[F]] struct {
	env   env.Env
	walks flight.Group[walkKey, struct{}]

	mu    sync.Mutex
	tools *lru.Cache[listedTool, toolEntry[F]]
	lists *lru.Cache[listKey, listing]
	// changes counts the backend's announcements that its tools have changed: what
	// was listed before the last of them is out of date.
	changes map[string]uint64
}

// toolFacts is what is known of a tool.
type toolFacts[F any] interface {
	toolName() string
	// own returns a copy that keeps nothing of the page it was read from. It reports
	// false for one that is too long to remember.
	own() (F, bool)
}

type (
	// listKey is whose list it is: that of a credential at a backend.
	listKey    struct{ backend, credential string }
	listedTool struct {
		listKey

		tool string
	}
	walkKey struct {
		listKey

		changes uint64
	}
)

type toolEntry[F any] struct {
	facts   F
	changes uint64
}

// toolsPage is a page of a list of tools.
type toolsPage[F any] struct {
	// cursor is what asked for it, and next what asks for the one behind it; both as
	// a client sends them, and absent at the ends of the list.
	cursor, next wire.Value
	// kept is how long the page holds, or zero.
	kept  time.Duration
	facts []F
}

// listing is how far the reading of a list has come.
type listing struct {
	changes uint64
	// until is when the list is worth reading again; the zero time while it has
	// not been read to its end.
	until time.Time
	// begun is when the first page was read, kept how long its pages hold, next
	// the cursor of the page that is still to come.
	begun time.Time
	kept  time.Duration
	next  wire.Value
}

const (
	catalogueSize = 16384
	listings      = 4096
	// maxFacts is how many bytes are remembered of a tool, and of a cursor. What is
	// longer is a peer's to fill the memory with.
	maxFacts = 16 << 10
	// minKept is how long a list holds at least: a tool that is not on it is not
	// looked for at every call. maxKept bounds what a server may ask for.
	minKept = 5 * time.Minute
	maxKept = 24 * time.Hour
)

func newCatalogue[F toolFacts[F]](e env.Env) (*catalogue[F], error) {
	tools, err := lru.New[listedTool, toolEntry[F]](catalogueSize)
	if err != nil {
		return nil, err
	}
	lists, err := lru.New[listKey, listing](listings)
	if err != nil {
		return nil, err
	}
	return &catalogue[F]{env: e, tools: tools, lists: lists, changes: make(map[string]uint64)}, nil
}

// learn remembers a page of tools. Pages that follow each other from the first to
// the last are a complete list, whoever has asked for them.
func (c *catalogue[F]) learn(key listKey, page toolsPage[F]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changes := c.changes[key.backend]
	for _, f := range page.facts {
		if f, ok := f.own(); ok {
			c.tools.Add(listedTool{key, f.toolName()}, toolEntry[F]{f, changes})
		}
	}
	l, _ := c.lists.Get(key)
	if l.changes != changes {
		l = listing{changes: changes}
	}
	switch {
	case !page.cursor.Present():
		l.begun, l.kept = c.env.Now(), maxKept
	case page.cursor != l.next:
		return // of another reading
	}
	l.kept = min(l.kept, max(page.kept, minKept))
	switch {
	case !page.next.Present():
		l.next, l.until = "", l.begun.Add(l.kept)
	case len(page.next) > maxFacts:
		l.next = ""
	default:
		l.next = wire.Value(strings.Clone(string(page.next))) // not the page with it
	}
	c.lists.Add(key, l)
}

// known reports whether a call of the tool needs no list: the tool is on one that
// is not out of date, or on none of them.
func (c *catalogue[F]) known(key listKey, tool string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	changes := c.changes[key.backend]
	if f, found := c.tools.Get(listedTool{key, tool}); found && f.changes == changes {
		return true
	}
	l, found := c.lists.Get(key)
	return found && l.changes == changes && c.env.Now().Before(l.until)
}

// pause says that a list could not be read to its end, and leaves it alone for a
// while.
func (c *catalogue[F]) pause(key walkKey, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists.Add(key.listKey, listing{changes: key.changes, until: c.env.Now().Add(d)})
}

// changed says that a backend's tools are not what they were. What is known of
// them is used until they are listed anew, and if they cannot be.
func (c *catalogue[F]) changed(backend string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes[backend]++
}

func (c *catalogue[F]) walkKey(key listKey) walkKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return walkKey{key, c.changes[key.backend]}
}

// facts returns what is known of a tool; nothing is known of one that has not
// been listed.
func (c *catalogue[F]) facts(key listKey, tool string) F {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, _ := c.tools.Get(listedTool{key, tool})
	return f.facts
}
