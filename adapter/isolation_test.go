package adapter_test

import (
	"fmt"
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
	apart    bool // the others come to another process
}{
	{name: "credentials", faces: []string{"legacy", "modern"}, one: "Bearer a", others: []string{"Bearer b", ""}},
	{name: "sessions", faces: []string{"legacy"}, one: "", others: []string{"", "Bearer b"}},
	{name: "one without a credential", faces: []string{"modern"}, one: "", others: []string{"Bearer b"}},
	{name: "verified", faces: []string{"legacy", "modern"}, one: "ada", others: []string{"eve"}, verified: true},
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
						for _, other := range s.others {
							one.hidden(at, name(other))
						}
						if s.verified {
							one.auth = k.token(s.one) // a refreshed token
						}
						one.alive()
						if s.apart {
							one.near(at).alive()
						}
						one.whole()
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

// hidden has another caller try everything.
func (e *estate) hidden(at *eraCell, auth string) {
	e.t.Helper()
	other := &party{eraCell: at, face: e.face, auth: auth}
	if e.face == "legacy" {
		other.session = other.old(auth).session
	}
	kinds := []string{"another", "forged"}
	wants := make(map[string]string) // what is said of what nobody has, by attempt and shape
	tried := 0
	for i, h := range e.holdings {
		unknown := h.unknown(e.t)
		for j, a := range attempts(e.face) {
			if (i+j)%thin != 0 {
				continue
			}
			kind := kinds[(i+j/thin)%len(kinds)]
			value, known := unknown[kind]
			if !known {
				kind = kinds[0]
				value = unknown[kind]
			}
			var got string
			if try := func() { got = other.try(a, h.value).shown(h.value) }; at == e.eraCell {
				try()
			} else if !at.store.silent(try) {
				e.t.Errorf("%s, in %s: passed on to another process", h.kind, a.name)
			}
			shape := fmt.Sprint(a.name, " ", kind, len(value))
			if _, asked := wants[shape]; !asked {
				wants[shape] = other.try(a, value).shown(value)
			}
			if want := wants[shape]; got != want {
				e.t.Errorf("%s, in %s:\n%s\n%s one:\n%s", h.kind, a.name, got, kind, want)
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
