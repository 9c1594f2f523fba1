package bridge

import (
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/flight"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// catalogue remembers what tools/list has said of tools beyond what a legacy
// client is told: which arguments a call mirrors into headers, and whose results
// are wrapped. What one credential was told holds for that credential only
// (§3.8). Everything in it can be asked for again.
type catalogue struct {
	env   env.Env
	walks flight.Group[walkKey, struct{}]

	mu    sync.Mutex
	tools *lru.Cache[toolFactsKey, toolFacts]
	lists *lru.Cache[listKey, listing]
	// changes counts the backend's announcements that its tools have changed: what
	// was listed before the last of them is out of date.
	changes map[string]uint64
}

type (
	// listKey is whose list it is: that of a credential at a backend.
	listKey      struct{ backend, credential string }
	toolFactsKey struct {
		listKey

		tool string
	}
	walkKey struct {
		listKey

		changes uint64
	}
)

type toolFacts struct {
	mapping.ToolFacts

	changes uint64
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

func newCatalogue(e env.Env) (*catalogue, error) {
	tools, err := lru.New[toolFactsKey, toolFacts](catalogueSize)
	if err != nil {
		return nil, err
	}
	lists, err := lru.New[listKey, listing](listings)
	if err != nil {
		return nil, err
	}
	return &catalogue{env: e, tools: tools, lists: lists, changes: make(map[string]uint64)}, nil
}

func keyOf(b *Backend, caller port.Caller) listKey { return listKey{b.Name, b.Authorization(caller)} }

// learn remembers a page of tools. Params are those of the request, as a legacy
// client sends them: pages that follow each other from the first to the last are
// a complete list, whoever has asked for them.
func (c *catalogue) learn(b *Backend, caller port.Caller, params wire.Value, page ext2026.Result, facts []mapping.ToolFacts) {
	key := keyOf(b, caller)
	c.mu.Lock()
	defer c.mu.Unlock()
	changes := c.changes[b.Name]
	for _, f := range facts {
		if f, ok := own(f); ok {
			c.tools.Add(toolFactsKey{key, f.Name}, toolFacts{f, changes})
		}
	}
	l, _ := c.lists.Get(key)
	if l.changes != changes {
		l = listing{changes: changes}
	}
	switch cursor := params.Get("cursor"); {
	case !cursor.Present():
		l.begun, l.kept = c.env.Now(), maxKept
	case cursor != l.next:
		return // of another reading
	}
	l.kept = min(l.kept, kept(page))
	next := page.Get("nextCursor")
	switch {
	case !next.Present(), next == wire.Null:
		l.next, l.until = "", l.begun.Add(l.kept)
	case len(next) > maxFacts:
		l.next = ""
	default:
		l.next = wire.Value(mapping.AppendDownCursor(nil, next))
	}
	c.lists.Add(key, l)
}

// own copies what is known of a tool, which else would keep the whole page it was
// read from. It reports false for one that is too long to remember.
func own(f mapping.ToolFacts) (mapping.ToolFacts, bool) {
	f.Name = strings.Clone(f.Name)
	size := len(f.Name)
	f.Headers = slices.Clone(f.Headers)
	for i := range f.Headers {
		h := &f.Headers[i]
		h.Name, h.Path = strings.Clone(h.Name), slices.Clone(h.Path)
		size += len(h.Name)
		for j, step := range h.Path {
			h.Path[j] = strings.Clone(step)
			size += len(step)
		}
	}
	return f, size <= maxFacts
}

// kept is how long a page holds.
func kept(page ext2026.Result) time.Duration {
	ms, ok := page.Get("ttlMs").Int()
	if !ok || ms < minKept.Milliseconds() {
		return minKept
	}
	return time.Duration(min(ms, maxKept.Milliseconds())) * time.Millisecond
}

// known reports whether a call of the tool needs no list: the tool is on one that
// is not out of date, or on none of them.
func (c *catalogue) known(b *Backend, caller port.Caller, tool string) bool {
	key := keyOf(b, caller)
	c.mu.Lock()
	defer c.mu.Unlock()
	changes := c.changes[b.Name]
	if f, found := c.tools.Get(toolFactsKey{key, tool}); found && f.changes == changes {
		return true
	}
	l, found := c.lists.Get(key)
	return found && l.changes == changes && c.env.Now().Before(l.until)
}

// pause says that a list could not be read to its end, and leaves it alone for a
// while.
func (c *catalogue) pause(key walkKey, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists.Add(key.listKey, listing{changes: key.changes, until: c.env.Now().Add(d)})
}

// changed says that a backend's tools are not what they were. What is known of
// them is used until they are listed anew, and if they cannot be.
func (c *catalogue) changed(backend string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes[backend]++
}

func (c *catalogue) walkKey(b *Backend, caller port.Caller) walkKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return walkKey{keyOf(b, caller), c.changes[b.Name]}
}

// facts returns what is known of a tool; nothing is known of one that has not
// been listed.
func (c *catalogue) facts(b *Backend, caller port.Caller, tool string) mapping.ToolFacts {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, _ := c.tools.Get(toolFactsKey{keyOf(b, caller), tool})
	return f.ToolFacts
}

// headers returns the headers that mirror a call's arguments.
func (c *catalogue) headers(b *Backend, caller port.Caller, params wire.Value) ([]port.Header, error) {
	name, _ := params.Get("name").Text()
	mirrored, err := ext2026.ParamHeaders(c.facts(b, caller, name).Headers, params.Get("arguments"))
	if err != nil {
		return nil, err
	}
	out := make([]port.Header, len(mirrored))
	for i, h := range mirrored {
		out[i] = port.Header{Name: h.Name, Value: h.Value}
	}
	return out, nil
}
