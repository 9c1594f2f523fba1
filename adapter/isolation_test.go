package adapter_test

import (
	"strings"
	"testing"
)

// strangers are pairs of callers none of whom is the other. Principals whose identity
// the bridge verifies belong here, too.
var strangers = []struct {
	name   string
	set    []string // configuration
	faces  []string
	one    string // credentials
	others []string
}{
	{name: "credentials", faces: []string{"legacy", "modern"}, one: "Bearer a", others: []string{"Bearer b", ""}},
	{name: "sessions", faces: []string{"legacy"}, one: "", others: []string{"", "Bearer b"}},
	{name: "one without a credential", faces: []string{"modern"}, one: "", others: []string{"Bearer b"}},
}

// TestForeignIsUnknown: whatever is one caller's, tried by another in every place of every
// method of both faces, is answered like what nobody has, byte for byte; and the owner
// notices nothing (DESIGN §4.4, A-H2, A-L10, A-L16, A-S2, B-P2, S-2).
func TestForeignIsUnknown(t *testing.T) {
	t.Parallel()
	for _, s := range strangers {
		for _, face := range s.faces {
			for era, server := range servers {
				t.Run(s.name+" "+face+" face, "+era+" backend", func(t *testing.T) {
					t.Parallel()
					cellOf(t, server(), func(c *eraCell) {
						c.set = append([]string{"limits.sessions_per_address=10000", "page_size=1"}, s.set...)
						c.logs = "rule=related-task" // a client's, of the other era
						c.restart()
						one := c.settle(face, s.one)
						for _, other := range s.others {
							one.hidden(other)
						}
						one.alive()
						one.whole()
					})
				})
			}
		}
	}
}

// hidden has another caller try everything.
func (e *estate) hidden(auth string) {
	e.t.Helper()
	other := &party{eraCell: e.eraCell, face: e.face, auth: auth}
	if e.face == "legacy" {
		other.session = e.old(auth).session
	}
	tried := 0
	for i, h := range e.holdings {
		unknown := h.unknown(e.t)
		for j, a := range attempts(e.face) {
			if (i+j)%thin != 0 {
				continue
			}
			got := other.try(a, h.value).shown(h.value)
			for kind, value := range unknown {
				if want := other.try(a, value).shown(value); got != want {
					e.t.Errorf("%s, in %s:\n%s\n%s one:\n%s", h.kind, a.name, got, kind, want)
				}
			}
			if strings.Contains(got, "worked 100") {
				e.t.Errorf("%s, in %s: %s", h.kind, a.name, got)
			}
			tried++
		}
	}
	if tried < 1000/thin {
		e.t.Errorf("%d attempts", tried)
	}
}

// alive checks that each thing is good for something in its owner's hands: it could have
// been found out.
func (e *estate) alive() {
	e.t.Helper()
	for _, h := range e.holdings {
		if h.kind == "question" || h.kind == "request state" {
			continue // used up by whole
		}
		good := false
		for _, a := range attempts(e.face) {
			if a.method == "tasks/cancel" || a.verb == "DELETE" {
				continue
			}
			value := h.unknown(e.t)["another"]
			if e.try(a, h.value).shown(h.value) != e.try(a, value).shown(value) {
				good = true
				break
			}
		}
		if !good {
			e.t.Errorf("%s is good for nothing", h.kind)
		}
	}
}
