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

// TestLeaks puts every member that belongs to one era only in every place where a
// peer of the other can be reached, on a whole bridge: it comes out as PROTOCOL.md
// §6 says, its neighbours come out as they were, and the last filter has nothing
// to do (G-3, G-5, §6.1, §6.2).
func TestLeaks(t *testing.T) {
	t.Parallel()
	all := carriers()
	for _, tk := range everyToken {
		for _, place := range tk.at {
			t.Run(tk.name(place), func(t *testing.T) {
				t.Parallel()
				c, found := all[place]
				if !found {
					t.Fatalf("no carrier %q", place)
				}
				setupText, text := c.fill(tk.hole, tk.in, tk.out)
				playText(t, setupText, text)
			})
		}
	}
}

// TestLeakExchanges plays the rows that are more than a member.
func TestLeakExchanges(t *testing.T) {
	t.Parallel()
	for _, x := range everyExchange {
		t.Run("§"+x.row+" "+x.name, func(t *testing.T) {
			t.Parallel()
			playText(t, x.setup, x.text)
		})
	}
}

// TestUserDataSurvives: the very same members, where they are a user's or a
// vendor's, pass byte for byte in both directions (§6.3, G-2, G-3).
func TestUserDataSurvives(t *testing.T) {
	t.Parallel()
	data, seen := "", map[string]bool{}
	for i, tk := range everyToken {
		if tk.in == "" || seen[tk.in] {
			continue
		}
		seen[tk.in] = true
		// Once as it is, once below, and once as text.
		name := wire.Value("{" + tk.in[1:] + "}")
		for m := range name.Members() {
			if !seen[m.Name] {
				seen[m.Name] = true
				data += key(m.Name, string(m.Value))
			}
		}
		data += fmt.Sprintf(`,"d%d":{%s},"t%d":%s`, i, tk.in[1:], i, wire.String(tk.in))
	}
	for place, c := range carriers() {
		t.Run("§6.3 in the "+place, func(t *testing.T) {
			t.Parallel()
			setupText, text := c.fill("‹x›", data, data)
			playText(t, setupText, text)
		})
	}
}

// TestEveryLeakRow: every row of the tables is put to the proof here.
func TestEveryLeakRow(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../testdata/spec/leaks.txt")
	if err != nil {
		t.Fatal(err)
	}
	proved := map[string]bool{}
	for _, tk := range everyToken {
		proved[tk.row] = true
	}
	for _, x := range everyExchange {
		proved[x.row] = true
	}
	for line := range bytes.Lines(file) {
		row, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if !proved[row] {
			t.Errorf("§%s %s: no entry", row, text)
		}
		delete(proved, row)
	}
	for row := range proved {
		t.Errorf("§%s is no row", row)
	}
}
