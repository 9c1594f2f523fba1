package conversation

import (
	"fmt"
	"strings"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// Fill returns a message that goes into the bridge, with the values that
// placeholders stand for. An id that stands for nothing is taken literally; any
// other placeholder must have a value.
func (m *Matcher) Fill(leg Leg, in wire.Value) (wire.Value, error) {
	in, err := m.expand(in)
	if err != nil {
		return "", err
	}
	return m.fill(begin(leg, in), in)
}

// FillText is [Matcher.Fill] for the value of a header.
func (m *Matcher) FillText(in string) (string, error) {
	if v, known := m.bound.values[ref{kindHandle, in}]; known {
		text, _ := v.Text()
		return text, nil
	}
	v, err := m.fill(place{leg: ClientToBridge}, wire.String(in))
	text, _ := v.Text()
	return text, err
}

func (m *Matcher) fill(p place, in wire.Value) (wire.Value, error) {
	if r, binds := p.placeholder(in); binds {
		switch v, known := m.bound.values[r]; {
		case known:
			return v, nil
		case r.kind != kindID && r.kind != kindToken && r.kind != kindAsked:
			return "", fmt.Errorf("%s: %s stands for nothing yet", p.path, r.name)
		}
	}
	out, err := rebuild(in, p, m.fill)
	if err != nil || !in.IsObject() {
		return out, err
	}
	return m.rename(p, out)
}

// rename gives the members of an object the names that placeholders stand for.
func (m *Matcher) rename(p place, in wire.Value) (wire.Value, error) {
	w, renamed := wire.Begin(nil), false
	for member := range in.Members() {
		r, isPlaceholder := p.keyed(member.Name)
		if !isPlaceholder {
			w.Copy(member)
			continue
		}
		v, known := m.bound.values[r]
		if !known {
			return "", fmt.Errorf("%s: %s stands for nothing yet", p.path, r.name)
		}
		name, _ := v.Text()
		w.Value(name, member.Value)
		renamed = true
	}
	if !renamed {
		return in, nil
	}
	return wire.Value(w.End()), nil
}

// rebuild returns v with every member and element replaced by change.
func rebuild(v wire.Value, p place, change func(place, wire.Value) (wire.Value, error)) (wire.Value, error) {
	switch v.Kind() {
	case wire.KindObject:
		w := wire.Begin(nil)
		for m := range v.Members() {
			inner, err := change(p.member(m.Name), m.Value)
			if err != nil {
				return "", err
			}
			w.Spell(m)
			w.SetBuf(append(w.Buf(), inner...))
		}
		return wire.Value(w.End()), nil
	case wire.KindArray:
		var parts []string
		for i, e := range v.Elements() {
			inner, err := change(p.element(i), e)
			if err != nil {
				return "", err
			}
			parts = append(parts, string(inner))
		}
		return wire.Value("[" + strings.Join(parts, ",") + "]"), nil
	default:
		return v, nil
	}
}

// spread is the name of a member that stands for the members of a macro.
const spread = "..."

// expand replaces macros by what they stand for.
func (m *Matcher) expand(v wire.Value) (wire.Value, error) {
	if !strings.Contains(string(v), `"@`) {
		return v, nil
	}
	return m.expandAt(place{}, v)
}

func (m *Matcher) expandAt(p place, v wire.Value) (wire.Value, error) {
	if macro, ok := p.macro(v); ok {
		return m.macro(macro)
	}
	if !v.Get(spread).Present() {
		return rebuild(v, p, m.expandAt)
	}
	w := wire.Begin(nil)
	for member := range v.Members() {
		if member.Name != spread {
			w.Copy(member)
			continue
		}
		name, _ := member.Value.Text()
		object, err := m.macro(name)
		if err != nil {
			return "", err
		}
		for inner := range object.Members() {
			w.Copy(inner)
		}
	}
	return wire.Value(w.End()), nil
}

// macro returns the name of the macro that stands at this place.
func (p place) macro(v wire.Value) (string, bool) {
	text, ok := v.Text()
	return text, ok && strings.HasPrefix(text, "@") && len(p.names) > 0 && p.names[len(p.names)-1] == "_meta"
}

func (m *Matcher) macro(name string) (wire.Value, error) {
	v, known := m.macros[name]
	if !known {
		return "", fmt.Errorf("no macro %q", name)
	}
	return v, nil
}

// Render returns a message of the bridge as a conversation would expect it: what
// agrees with the expected message keeps its placeholders and macros, and values
// that placeholders stand for are named by them.
func (m *Matcher) Render(leg Leg, want, got wire.Value) wire.Value {
	return m.render(begin(leg, want), want, got)
}

func (m *Matcher) render(p place, want, got wire.Value) wire.Value {
	if want.Present() && m.agrees(p, want, got) {
		return want
	}
	if !want.Present() || want.Kind() != got.Kind() {
		want = ""
	}
	out, _ := rebuild(got, p, func(at place, inner wire.Value) (wire.Value, error) { // cannot fail
		return m.render(at, counterpart(want, at), inner), nil
	})
	if out != got || got.IsObject() || got.Kind() == wire.KindArray {
		return out
	}
	return m.named(p, got)
}

// agrees reports whether got is what want says.
func (m *Matcher) agrees(p place, want, got wire.Value) bool {
	expanded, err := m.expandAt(p, want)
	if err != nil {
		return false
	}
	c := comparison{m: m, bound: m.bound.clone()}
	c.value(p, expanded, got)
	return len(c.diffs) == 0
}

// counterpart returns the member or element of want that stands at this place.
func counterpart(want wire.Value, at place) wire.Value {
	name := at.names[len(at.names)-1]
	if want.IsObject() {
		return want.Get(name)
	}
	for i, e := range want.Elements() {
		if i == at.index {
			return e
		}
	}
	return ""
}

// named returns the placeholder that stands for a value at this place.
func (m *Matcher) named(p place, got wire.Value) wire.Value {
	for kind, probe := range map[string]wire.Value{kindID: "0", kindToken: "0", kindAsked: "0", kindHandle: `"b.x"`} {
		r, binds := p.placeholder(probe)
		if !binds || r.kind != kind {
			continue
		}
		if bound, known := m.bound.refs[m.bound.unique(kind, got)]; known {
			if kind == kindHandle {
				return wire.String(bound.name)
			}
			return wire.Value(bound.name)
		}
	}
	return got
}
