package adapter_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// strangers are pairs of callers none of whom is the other.
var strangers = []struct {
	name     string
	faces    []string
	one      string // credentials, or subjects of an issuer
	others   []string
	verified bool // by the bridge
	apart    bool // the others come to another process as well
}{
	{name: "credentials", faces: []string{"legacy", "modern"}, one: "Bearer a", others: []string{"Bearer b", ""}},
	{name: "sessions", faces: []string{"legacy"}, one: "", others: []string{"", "Bearer b"}},
	{name: "one without a credential", faces: []string{"modern"}, one: "", others: []string{"Bearer b"}},
	{name: "credentials, two processes", faces: []string{"legacy", "modern"}, one: "Bearer a", others: []string{"Bearer b"}, apart: true},
	{name: "verified, two processes", faces: []string{"legacy", "modern"}, one: "ada", others: []string{"eve"}, verified: true, apart: true},
}

// TestForeignIsUnknown: whatever is one caller's, tried by another in every place of every
// method of both faces, is answered like what nobody has, byte for byte; and the owner
// notices nothing. At another process than the owner's it is the same, and none of it is
// passed on (DESIGN §4.4, §4.5, A-H2, A-L10, A-L16, A-S2, B-P2, S-2).
func TestForeignIsUnknown(t *testing.T) {
	t.Parallel()
	for _, s := range strangers {
		for _, face := range s.faces {
			for era, server := range servers {
				t.Run(s.name+" "+face+" face, "+era+" backend", func(t *testing.T) {
					t.Parallel()
					k := newKeyed(t, server())
					cellOf(t, k, func(c *eraCell) {
						c.set = []string{"limits.sessions_per_address=10000", "page_size=1"}
						c.logs = "rule=related-task" // a client's, of the other era
						name := func(who string) string { return who }
						if s.verified {
							c.set, name = append(c.set, verifying...), k.token
						}
						at := c
						if s.apart {
							c.share()
							at = c.beside()
							defer at.end()
						} else {
							c.restart()
						}
						one := c.settle(face, name(s.one))
						for i, other := range s.others {
							of := thin
							if i > 0 || s.apart { // what has been tried differs in little
								of = 2 * thin
							}
							one.hidden(at, name(other), of)
						}
						if s.verified {
							one.auth = k.token(s.one) // a refreshed token
						}
						one.alive()
						if !s.apart {
							one.whole()
							return
						}
						one = one.near(at)
						one.alive()
						// What the owner has there is passed on.
						if at.silent(one.whole) && (face == "legacy" || era == "legacy") {
							t.Error("the other process has done without the owner's")
						}
					})
				})
			}
		}
	}
}

// near is the same owner, who comes to another process.
func (e *estate) near(at *eraCell) *estate {
	out, p := *e, *e.party
	p.eraCell, out.party = at, &p
	return &out
}

// hidden has another caller try everything, one of so many attempts, here and at another
// process.
func (e *estate) hidden(at *eraCell, auth string, of int) {
	e.t.Helper()
	others := []*party{{eraCell: at, face: e.face, auth: auth}}
	if at != e.eraCell {
		others = append(others, &party{eraCell: e.eraCell, face: e.face, auth: auth})
	}
	for _, other := range others {
		if e.face == "legacy" {
			other.session = other.old(auth).session
		}
	}
	wants := make(map[string]string) // what is said of what nobody has, by attempt and shape
	tried := 0
	for i, h := range e.holdings {
		unknown := h.unknown(e.t)
		kinds := slices.Sorted(maps.Keys(unknown))
		for j, a := range attempts(e.face) {
			if (i+j)%of != 0 {
				continue
			}
			turn := (i + j) / of
			other, kind := others[turn/2%len(others)], kinds[turn%len(kinds)]
			var got string
			if !other.silent(func() { got = other.try(a, h.value).shown(h.value) }) {
				e.t.Errorf("%s, in %s: passed on to another process", h.kind, a.name)
			}
			shape := fmt.Sprint(a.name, " ", kind, " of ", len(h.value))
			want, known := wants[shape]
			if !known {
				want = other.try(a, unknown[kind]).shown(unknown[kind])
				wants[shape] = want
			}
			if got != want {
				e.t.Errorf("%s, in %s:\n%s\n%s one:\n%s", h.kind, a.name, got, kind, want)
			}
			if strings.Contains(got, "worked 100") {
				e.t.Errorf("%s, in %s: %s", h.kind, a.name, got)
			}
			tried++
		}
	}
	if tried < 1000/of {
		e.t.Errorf("%d attempts", tried)
	}
}

// alive checks that each thing is good for something in its owner's hands: it could have
// been found out.
func (e *estate) alive() {
	e.t.Helper()
	likely := attempts(e.face) // those about tasks and streams first
	slices.SortStableFunc(likely, func(a, b attempt) int {
		rank := func(a attempt) int {
			if strings.HasPrefix(a.method, "tasks/") || a.verb == http.MethodGet {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	for _, h := range e.holdings {
		if h.kind == "question" || h.kind == "request state" {
			continue // used up by whole
		}
		good := false
		for _, a := range likely {
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
