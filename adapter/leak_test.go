package adapter_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// playText plays a conversation that is made by a test.
func playText(t *testing.T, setupText, text string) {
	t.Helper()
	script, err := conversation.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s, err := parseSetup([]byte(setupText))
	if err != nil {
		t.Fatal(err)
	}
	p := player{script: script, setup: s, path: t.Name(), replaced: map[int]wire.Value{}}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		p.play(t)
	})
}

// leakHalf is what is put to the proof in one cell of eras.
type leakHalf struct {
	carriers  map[string]carrier
	tokens    []token
	exchanges []leakExchange
	// own is set where both peers are of one era: there it is for the last filter to
	// take out what belongs to the other.
	own bool
}

// leakHalves are the cells: the two directions, and between peers of one era.
var leakHalves = map[string]leakHalf{
	"A": {carriers: carriers(), tokens: everyToken, exchanges: everyExchange},
	"B": {carriers: downCarriers, tokens: everyDownToken, exchanges: everyDownExchange},

	"S-3 legacy": ownCells["legacy/legacy"].half(), "S-3 modern": ownCells["modern/modern"].half(),
}

// play puts every token of a half in its places.
func (h leakHalf) play(t *testing.T, half string) {
	t.Helper()
	for _, tk := range h.tokens {
		for _, place := range tk.at {
			t.Run(half+" "+tk.name(place), func(t *testing.T) {
				t.Parallel()
				c, found := h.carriers[place]
				if !found {
					t.Fatalf("no carrier %q", place)
				}
				setupText, text := c.fill(tk.hole, tk.in, tk.out)
				if h.own && tk.out == "" {
					setupText += "filter: hit\n"
				}
				playText(t, setupText, text)
			})
		}
	}
}

// TestLeaks puts every member that belongs to one era only in every place where a
// peer of the other can be reached, on a whole bridge: it comes out as PROTOCOL.md
// §6 says, its neighbours come out as they were, and the last filter has nothing
// to do (G-3, G-5, §6.1, §6.2). Between peers of one era the members are their own,
// and pass; only the keys of _meta that belong to the other go (S-3).
func TestLeaks(t *testing.T) {
	t.Parallel()
	for half, h := range leakHalves {
		h.play(t, half)
	}
}

// TestLeakExchanges plays the rows that are more than a member.
func TestLeakExchanges(t *testing.T) {
	t.Parallel()
	for half, h := range leakHalves {
		for _, x := range h.exchanges {
			t.Run(half+" §"+x.row+" "+x.name, func(t *testing.T) {
				t.Parallel()
				playText(t, x.setup, x.text)
			})
		}
	}
}

// userData is every token of a half as members of somebody's own: once as it is,
// once below, and once as text.
func (h leakHalf) userData() (data string) {
	seen := map[string]bool{}
	for i, tk := range h.tokens {
		if tk.in == "" || seen[tk.in] {
			continue
		}
		seen[tk.in] = true
		name := wire.Value("{" + tk.in[1:] + "}")
		for m := range name.Members() {
			if !seen[m.Name] {
				seen[m.Name] = true
				data += key(m.Name, string(m.Value))
			}
		}
		data += fmt.Sprintf(`,"d%d":{%s},"t%d":%s`, i, tk.in[1:], i, wire.String(tk.in))
	}
	return data
}

// TestUserDataSurvives: the very same members, where they are a user's or a
// vendor's, pass byte for byte in every cell (§6.3, G-2, G-3, S-3).
func TestUserDataSurvives(t *testing.T) {
	t.Parallel()
	for half, h := range leakHalves {
		data := h.userData()
		for place, c := range h.carriers {
			t.Run(half+" §6.3 in the "+place, func(t *testing.T) {
				t.Parallel()
				setupText, text := c.fill("‹x›", data, data)
				playText(t, setupText, text)
			})
		}
	}
}

// TestEveryLeakRow: every row of the tables is put to the proof here, in both
// directions.
func TestEveryLeakRow(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../testdata/spec/leaks.txt")
	if err != nil {
		t.Fatal(err)
	}
	for half, h := range leakHalves {
		if h.own {
			continue
		}
		proved := map[string]bool{}
		for _, tk := range h.tokens {
			proved[tk.row] = true
		}
		for _, x := range h.exchanges {
			proved[x.row] = true
		}
		for line := range bytes.Lines(file) {
			row, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
			if !proved[row] {
				t.Errorf("%s §%s %s: no entry", half, row, text)
			}
			delete(proved, row)
		}
		for row := range proved {
			t.Errorf("%s §%s is no row", half, row)
		}
	}
}
