package conversation

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// ref names a placeholder that binds.
type ref struct{ kind, name string }

// The kinds of placeholders that bind without a mark.
const (
	kindID     = "id"
	kindToken  = "progress token"
	kindHandle = "handle"
	kindAsked  = "request to the client"
)

// bindings holds what placeholders stand for. No two of a kind stand for the same
// value, but for those whose values have a meaning: two times may be one.
type bindings struct {
	values map[ref]wire.Value
	refs   map[string]ref // by kind, scope and value
	scope  string         // within which ids and tokens of requests to the upstream differ
}

func newBindings() bindings {
	return bindings{values: map[ref]wire.Value{}, refs: map[string]ref{}}
}

func (b *bindings) clone() bindings {
	return bindings{values: maps.Clone(b.values), refs: maps.Clone(b.refs), scope: b.scope}
}

// unique is what no other placeholder of a kind stands for.
func (b *bindings) unique(kind string, v wire.Value) string {
	if kind == kindID || kind == kindToken {
		return kind + " " + b.scope + " " + string(v)
	}
	return kind + " " + string(v)
}

// bind gives a placeholder its value, or reports what speaks against it.
func (b *bindings) bind(r ref, v wire.Value) (problem string) {
	if bound, known := b.values[r]; known {
		if bound == v {
			return ""
		}
		return string(bound) + ", which " + r.name + " stands for"
	}
	if other, used := b.refs[b.unique(r.kind, v)]; used && !meaningful[r.kind] {
		return "a value of its own, not that of " + other.name
	}
	b.values[r] = v
	b.refs[b.unique(r.kind, v)] = r
	return ""
}

// Matcher compares messages with what a conversation expects, and remembers what
// placeholders stand for. It is not safe for concurrent use.
type Matcher struct {
	bound  bindings
	macros map[string]wire.Value
	start  time.Time
	now    func() time.Time
}

// NewMatcher returns a matcher in which nothing is bound. The macros are objects,
// by name with the @; now is the clock of the bridge.
func NewMatcher(macros map[string]wire.Value, now func() time.Time) *Matcher {
	return &Matcher{bound: newBindings(), macros: macros, start: now().Truncate(time.Millisecond), now: now}
}

// Within says in which session of the upstream the next messages are: ids of
// requests differ within one.
func (m *Matcher) Within(session string) { m.bound.scope = session }

// place is where in a message something stands.
type place struct {
	leg     Leg
	path    string
	names   []string // of the members that lead here; "" for an element
	index   int      // of an element
	ordered bool     // the order of members counts
	asks    bool     // the message is, takes back or answers a request to the client
	theirs  bool     // the message is or answers a request of the upstream
	takes   bool     // the message takes a request to the upstream back
}

// begin is the place of a whole message.
func begin(leg Leg, message wire.Value) place {
	p := place{leg: leg}
	isRequest := message.Get("method").Present() && message.Get("id").Present()
	switch leg {
	case BridgeToClient:
		p.asks = isRequest || message.Get("method") == `"notifications/cancelled"`
	case ClientToBridge:
		p.asks = !message.Get("method").Present()
	case BridgeToUpstream:
		p.theirs = message.Get("result").Present() || message.Get("error").Present()
		p.takes = message.Get("method") == `"notifications/cancelled"`
	case UpstreamToBridge:
		p.theirs = isRequest
	}
	return p
}

func (p place) member(name string) place {
	path := name
	if p.path != "" {
		path = p.path + "." + name
	}
	next := p
	next.path, next.names = path, append(p.names[:len(p.names):len(p.names)], name)
	next.ordered = p.ordered || userData(name)
	return next
}

func (p place) element(i int) place {
	p.path = fmt.Sprintf("%s[%d]", p.path, i)
	p.names = append(p.names[:len(p.names):len(p.names)], "")
	p.index = i
	return p
}

// userData reports whether a member is a user's or a vendor's own.
func userData(name string) bool {
	return name == "arguments" || name == "structuredContent" ||
		strings.ContainsAny(name, "./") && !strings.HasPrefix(name, "io.modelcontextprotocol/")
}

func (p place) at(names ...string) bool {
	if len(p.names) != len(names) {
		return false
	}
	for i, name := range names {
		if p.names[i] != name {
			return false
		}
	}
	return true
}

// placeholder returns what v stands for at this place, if that binds.
func (p place) placeholder(v wire.Value) (ref, bool) {
	text, isText := v.Text()
	if isText {
		if name, ok := wildcard(text); ok {
			if kind, _, named := strings.Cut(name, ":"); named {
				return ref{kind, text}, true
			}
		}
	}
	if p.asks && (p.at("id") || p.at("params", "requestId")) {
		return ref{kindAsked, string(v)}, true
	}
	upstream := p.leg == BridgeToUpstream || p.leg == UpstreamToBridge
	switch {
	case upstream && (p.at("id") && !p.theirs || p.takes && p.at("params", "requestId") ||
		p.at("params", "_meta", wire.MetaSubscriptionID) || p.at("result", "_meta", wire.MetaSubscriptionID)):
		return ref{kindID, string(v)}, true
	case p.leg == BridgeToUpstream && p.at("params", "_meta", wire.MetaProgressToken),
		p.leg == UpstreamToBridge && p.at("params", wire.MetaProgressToken):
		return ref{kindToken, string(v)}, true
	case !upstream && p.aboutTask() && (strings.HasPrefix(text, "b.") || strings.HasPrefix(text, "h.")):
		return ref{kindHandle, text}, true
	default:
		return ref{}, false
	}
}

// aboutTask reports whether the id of a task stands here.
func (p place) aboutTask() bool {
	last := len(p.names) - 1
	switch {
	case p.ordered || last < 0:
		return false
	case p.names[last] == "taskId":
		return true
	default:
		return last > 0 && p.names[last] == "" && p.names[last-1] == "taskIds"
	}
}

// keyed returns what the name of a member stands for at this place: of the
// questions that a client is asked, and of its answers.
func (p place) keyed(name string) (r ref, isPlaceholder bool) {
	last := len(p.names) - 1
	if last < 0 || p.names[last] != "inputRequests" && p.names[last] != "inputResponses" {
		return ref{}, false
	}
	inner, ok := wildcard(name)
	if !ok {
		return ref{}, false
	}
	kind, _, _ := strings.Cut(inner, ":")
	return ref{kind, name}, true
}

// wildcard returns the name between the brackets of a placeholder.
func wildcard(text string) (string, bool) {
	if len(text) < 3 || text[0] != '<' || text[len(text)-1] != '>' {
		return "", false
	}
	return text[1 : len(text)-1], true
}
