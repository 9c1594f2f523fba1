package leak

import (
	"log/slog"
	"sync/atomic"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Filter looks at the messages of one leg. It is safe for concurrent use.
type Filter struct {
	leg    string
	logger *slog.Logger
	table  *table
	hits   map[string]*atomic.Int64
}

// Legacy returns the filter for everything sent to a legacy peer (§6.1).
func Legacy(logger *slog.Logger) *Filter { return newFilter("legacy", logger, legacyTable) }

// Modern returns the filter for everything sent to a modern peer (§6.2).
func Modern(logger *slog.Logger) *Filter { return newFilter("modern", logger, modernTable) }

// LegacyOwn returns the filter for what is sent to a legacy peer on behalf of
// another one (S-3).
func LegacyOwn(logger *slog.Logger) *Filter { return newFilter("legacy own", logger, legacyOwnTable) }

// ModernOwn returns the filter for what is sent to a modern peer on behalf of
// another one (S-3).
func ModernOwn(logger *slog.Logger) *Filter { return newFilter("modern own", logger, modernOwnTable) }

func newFilter(leg string, logger *slog.Logger, t *table) *Filter {
	f := &Filter{leg: leg, logger: logger, table: t, hits: make(map[string]*atomic.Int64)}
	for _, name := range t.names() {
		f.hits[name] = new(atomic.Int64)
	}
	return f
}

// Hits returns how often each row of the table has been hit, by the row's name.
func (f *Filter) Hits() map[string]int64 {
	out := make(map[string]int64, len(f.hits))
	for name, n := range f.hits {
		out[name] = n.Load()
	}
	return out
}

// Apply implements [port.Filter]: it returns msg itself when nothing has to go,
// and nothing at all for a message whose very method belongs to the other era.
func (f *Filter) Apply(method string, msg []byte) []byte {
	v := wire.Value(msg)
	if own, isCall := v.Get("method").Text(); isCall {
		if f.table.banned[own] {
			f.hit(ruleMethod, own)
			return nil
		}
		method = own
	} else if e := v.Get("error"); e.Present() {
		return f.recode(v, e, msg)
	}
	root := f.table.root(method)
	scan := scanner{hit: func(rule string) { f.hit(rule, method) }}
	if !scan.dirty(v, root) {
		return msg
	}
	return scan.appendClean(nil, v, root)
}

// recode replaces an error code that the leg's era does not have. Its data is
// shaped by the code and goes with it.
func (f *Filter) recode(v, e wire.Value, msg []byte) []byte {
	code, ok := e.Get("code").Int()
	if !ok || !f.table.foreignCode(code) {
		return msg
	}
	f.hit(ruleCode, "")
	text, _ := e.Get("message").Text()
	return jsonrpc.AppendError(nil, v.Get("id"), &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: text})
}

func (f *Filter) hit(rule, method string) {
	f.hits[rule].Add(1)
	f.logger.Error("a message of the other era was stopped", "leg", f.leg, "rule", rule, "method", method)
}

// scanner walks a message along a table.
type scanner struct{ hit func(rule string) }

// dirty reports whether something below v has to go.
func (s *scanner) dirty(v wire.Value, n *node) bool {
	if n.each != nil {
		for _, element := range v.Elements() {
			if s.dirty(element, n.each) {
				return true
			}
		}
	}
	if n.members == nil && n.any == nil {
		return false
	}
	for m := range v.Members() {
		next := n.below(m.Name)
		if next != nil && (next.forbids(v, m.Value) || s.dirty(m.Value, next)) {
			return true
		}
	}
	return false
}

// appendClean appends v without what has to go. An object of protocol keys that
// ends up empty is left to its place in the table, see node.prune.
func (s *scanner) appendClean(dst []byte, v wire.Value, n *node) []byte {
	switch {
	case n.each != nil && v.Kind() == wire.KindArray:
		dst = append(dst, '[')
		for i, element := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = s.appendClean(dst, element, n.each)
		}
		return append(dst, ']')
	case v.IsObject():
		w := wire.Begin(dst)
		for m := range v.Members() {
			s.member(&w, v, m, n.below(m.Name))
		}
		return w.End()
	default:
		return append(dst, v...)
	}
}

func (s *scanner) member(w *wire.Writer, parent wire.Value, m wire.Member, n *node) {
	switch {
	case n == nil:
		w.Copy(m)
	case n.forbids(parent, m.Value):
		s.hit(n.rule)
	default:
		clean := s.appendClean(nil, m.Value, n)
		if n.prune && string(clean) == "{}" && m.Value != "{}" {
			return
		}
		w.Raw(m.Name, clean)
	}
}
