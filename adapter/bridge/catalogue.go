package bridge

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// catalogue remembers what tools/list has said of tools beyond what a legacy
// client is told: which arguments a call mirrors into headers, and whose results
// are wrapped. What one credential was told holds for that credential only
// (§3.8). Everything in it can be asked for again.
type catalogue struct {
	tools *lru.Cache[catalogueKey, mapping.ToolFacts]
}

type catalogueKey struct{ backend, credential, tool string }

const (
	catalogueSize = 16384
	// maxPages ends the walk through a list that never ends.
	maxPages = 100
)

func newCatalogue() (*catalogue, error) {
	tools, err := lru.New[catalogueKey, mapping.ToolFacts](catalogueSize)
	if err != nil {
		return nil, err
	}
	return &catalogue{tools}, nil
}

func (c *catalogue) learn(b *Backend, caller port.Caller, facts []mapping.ToolFacts) {
	for _, f := range facts {
		c.tools.Add(catalogueKey{b.Name, b.Authorization(caller), f.Name}, f)
	}
}

// facts returns what is known of a tool; nothing is known of one that has not
// been listed.
func (c *catalogue) facts(b *Backend, caller port.Caller, tool string) mapping.ToolFacts {
	f, _ := c.tools.Get(catalogueKey{b.Name, b.Authorization(caller), tool})
	return f
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

// relist asks a backend for all its tools once more: it has found a call's
// headers wrong, so what is known of the tool is not true any more.
func (m *Modern) relist(ctx context.Context, b *Backend, caller port.Caller) error {
	var cursor wire.Value
	for range maxPages {
		raw, err := m.own(ctx, b, caller, ext2026.MethodToolsList, func(env mapping.Envelope) ([]byte, error) {
			w := wire.Begin(nil)
			w.Value("cursor", cursor)
			params, _, err := mapping.AppendUpParams(nil, ext2026.MethodToolsList, wire.Value(w.End()), env)
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
		m.catalogue.learn(b, caller, facts)
		// The cursor travels as a legacy client would send it back.
		next := page.Get("nextCursor")
		if !next.Present() || next == wire.Null {
			return nil
		}
		cursor = wire.Value(mapping.AppendDownCursor(nil, next))
	}
	return nil
}
