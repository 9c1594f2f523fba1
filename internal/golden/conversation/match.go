package conversation

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// Difference is one place at which a message is not what was expected.
type Difference struct {
	// Path names the place, as result.tasks[0].status; empty is the message.
	Path string
	// Want and Got are what should be there and what is; "nothing" for a member
	// that should not be there or is not.
	Want, Got string
}

func (d Difference) String() string {
	path := d.Path
	if path == "" {
		path = "message"
	}
	return fmt.Sprintf("%s: want %s, got %s", path, d.Want, d.Got)
}

const nothing = "nothing"

// Match compares a message of the bridge with the expected one. Placeholders bind
// only if there is no difference. The error is that of an unknown macro.
func (m *Matcher) Match(leg Leg, want, got wire.Value) ([]Difference, error) {
	want, err := m.expand(want)
	if err != nil {
		return nil, err
	}
	c := comparison{m: m, bound: m.bound.clone()}
	c.value(begin(leg, want), want, got)
	if len(c.diffs) == 0 {
		m.bound = c.bound
	}
	return c.diffs, nil
}

// Agrees reports whether [Matcher.Match] would find no difference. Nothing binds.
func (m *Matcher) Agrees(leg Leg, want, got wire.Value) bool {
	return m.agrees(begin(leg, want), want, got)
}

// MatchText compares a text, the value of a header, with the expected one.
func (m *Matcher) MatchText(want, got string) bool {
	c := comparison{m: m, bound: m.bound.clone()}
	c.value(place{leg: BridgeToClient}, wire.String(want), wire.String(got))
	if len(c.diffs) == 0 {
		m.bound = c.bound
	}
	return len(c.diffs) == 0
}

// comparison compares one message and gathers its differences.
type comparison struct {
	m     *Matcher
	bound bindings
	diffs []Difference
}

func (c *comparison) differ(p place, want, got string) {
	c.diffs = append(c.diffs, Difference{p.path, want, got})
}

func (c *comparison) value(p place, want, got wire.Value) {
	if r, binds := p.placeholder(want); binds {
		if problem := c.opaque(r, got); problem != "" {
			c.differ(p, problem, string(got))
		}
		return
	}
	if text, ok := want.Text(); ok {
		if name, ok := wildcard(text); ok {
			if problem := c.m.wild(name, got); problem != "" {
				c.differ(p, text+" ("+problem+")", string(got))
			}
			return
		}
	}
	switch {
	case want.Kind() == wire.KindObject && got.Kind() == wire.KindObject:
		c.object(p, want, got)
	case want.Kind() == wire.KindArray && got.Kind() == wire.KindArray:
		c.array(p, want, got)
	case want != got:
		c.differ(p, string(want), string(got))
	}
}

// opaque binds a placeholder to got.
func (c *comparison) opaque(r ref, got wire.Value) (problem string) {
	switch r.kind {
	case kindAsked:
		if !got.IsInteger() {
			return "an integer"
		}
	case kindID, kindToken:
		if got.Kind() != wire.KindString && !got.IsInteger() {
			return "a string or an integer"
		}
	default:
		if problem := c.m.wild(r.kind, got); problem != "" {
			return problem
		}
	}
	return c.bound.bind(r, got)
}

func (c *comparison) array(p place, want, got wire.Value) {
	wants, gots := elements(want), elements(got)
	for i := range max(len(wants), len(gots)) {
		at := p.element(i)
		switch {
		case i >= len(gots):
			c.differ(at, string(wants[i]), nothing)
		case i >= len(wants):
			c.differ(at, nothing, string(gots[i]))
		default:
			c.value(at, wants[i], gots[i])
		}
	}
}

// object pairs the members by the spelling of their names; of repeated ones the
// first goes with the first.
func (c *comparison) object(p place, want, got wire.Value) {
	left := members(got)
	var order []int
	for _, w := range members(want) {
		i := c.indexMember(p, left, w)
		at := p.member(w.Name)
		if i < 0 {
			c.differ(at, string(w.Value), nothing)
			continue
		}
		c.value(at, w.Value, left[i].Value)
		left[i].paired = true
		order = append(order, i)
	}
	for _, g := range left {
		if !g.paired {
			c.differ(p.member(g.Name), nothing, string(g.Value))
		}
	}
	if !p.ordered {
		return
	}
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] {
			c.differ(p, "members in this order: "+string(want), string(got))
			return
		}
	}
}

// member is a member with its name as it was spelled.
type member struct {
	wire.Member
	spelling string
	paired   bool
}

func members(v wire.Value) (all []member) {
	for m := range v.Members() {
		w := wire.Begin(nil)
		w.Spell(m)
		all = append(all, member{Member: m, spelling: string(w.Buf()[1:])})
	}
	return all
}

// indexMember returns the member that a wanted one goes with, or -1. What a
// placeholder for a name stands for is decided by the value beside it.
func (c *comparison) indexMember(p place, all []member, want member) int {
	r, isPlaceholder := p.keyed(want.Name)
	for i, m := range all {
		switch {
		case m.paired:
		case !isPlaceholder:
			if m.spelling == want.spelling {
				return i
			}
		default:
			trial := comparison{m: c.m, bound: c.bound.clone()}
			trial.value(p.member(m.Name), want.Value, m.Value)
			if len(trial.diffs) == 0 && c.named(r, m.Name) {
				return i
			}
		}
	}
	return -1
}

// named reports whether a placeholder can stand for a name, and binds it if it is
// one that comes back.
func (c *comparison) named(r ref, name string) bool {
	if !strings.Contains(r.name, ":") {
		return true
	}
	return c.bound.bind(r, wire.String(name)) == ""
}

func elements(v wire.Value) (all []wire.Value) {
	for _, e := range v.Elements() {
		all = append(all, e)
	}
	return all
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// meaningful are the wildcards whose values are not opaque, and the ids of requests
// to clients, of which every session has its own.
var meaningful = map[string]bool{kindAsked: true, "text": true, "int": true, "now": true, "cancel time": true, "local createdAt": true}

// wild says what is wrong with a value where a wildcard stands, or nothing.
func (m *Matcher) wild(name string, got wire.Value) string {
	text, isText := got.Text()
	switch name {
	case "int":
		if !got.IsInteger() {
			return "an integer literal"
		}
	case "now", "cancel time", "local createdAt":
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || !strings.HasSuffix(text, "Z") {
			return "a time in RFC 3339, UTC"
		}
		if at.Before(m.start) || at.After(m.now()) {
			return "a time within this conversation"
		}
	case "uuid":
		if !uuid.MatchString(text) {
			return "a UUID"
		}
	default:
		if !isText || text == "" {
			return "a string that is not empty"
		}
	}
	return ""
}
