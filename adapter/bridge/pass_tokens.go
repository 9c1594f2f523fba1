package bridge

import (
	"slices"
	"strings"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// maxTokens bounds the progress tokens that a session remembers in one direction:
// that of a task lives longer than the request that made it.
const maxTokens = 1024

// tokens are the progress tokens of requests that have not ended, by those that
// stand for them on the other leg. The oldest go when there are too many.
type tokens struct {
	by    map[wire.Value]wire.Value
	order []wire.Value
}

func newTokens() tokens { return tokens{by: make(map[wire.Value]wire.Value)} }

func (t *tokens) add(own, peers wire.Value) {
	t.by[own] = peers
	t.order = append(t.order, own)
	if len(t.order) > maxTokens {
		t.remove(t.order[0])
	}
}

func (t *tokens) remove(own wire.Value) {
	delete(t.by, own)
	if i := slices.Index(t.order, own); i >= 0 {
		t.order = slices.Delete(t.order, i, i+1)
	}
}

// withToken gives a request a progress token of its own on the next leg, if it asks
// for progress. Own is absent where it does not (G-9).
func (s *passed) withToken(t *tokens, params wire.Value) (out, own wire.Value, err error) {
	token, err := legacy2025.ProgressToken(params)
	if err != nil || !token.Present() {
		return params, "", err
	}
	own = jsonrpc.IntID(s.p.tokens.Add(1))
	s.mu.Lock()
	defer s.mu.Unlock()
	t.add(own, wire.Value(strings.Clone(string(token)))) // not the request with it
	return replaced(params, to(own), "_meta", wire.MetaProgressToken), own, nil
}

// forget ends a token of [passed.withToken].
func (s *passed) forget(t *tokens, own wire.Value) {
	if !own.Present() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.remove(own)
}

// progress gives progress back the token that its receiver has chosen (G-10). That of
// an unknown one is nobody's (G-12).
func (s *passed) progress(t *tokens, params wire.Value) (wire.Value, bool) {
	s.mu.Lock()
	token, ok := t.by[params.Get(wire.MetaProgressToken)]
	s.mu.Unlock()
	if !ok {
		return "", false
	}
	return replaced(params, to(token), wire.MetaProgressToken), true
}
