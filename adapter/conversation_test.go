package adapter_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/golden"
	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/golden/goldentest"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestConversations plays every file of testdata/golden/conversation against a
// whole bridge, started as the command starts it, in fake time and over networks
// in memory. What the file says, and how its other section sets the bridge up, is
// described in the packages internal/golden/conversation and in setup.
//
// Every conversation also proves what holds in all of them: see player.finish.
func TestConversations(t *testing.T) {
	goldentest.Run(t, "../testdata/golden", goldentest.Suite{
		Dir:    "conversation",
		Schema: golden.Schema{Inputs: []string{"setup"}, Outputs: []string{"conversation"}},
		Func: func(t *testing.T, c *goldentest.Case) {
			text, _ := c.Optional("setup")
			converse(t, c, text, nil)
		},
	})
}

// converse plays the conversation of a case. With -update the messages that the
// bridge was expected to send are replaced by those it has sent; what was said to
// it, and which messages there are, stays as it is. The bridge is one process, or as
// many as spread says.
func converse(t *testing.T, c *goldentest.Case, setupText []byte, spread *spread) {
	t.Parallel()
	file, err := os.ReadFile(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := golden.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	text, found := parsed.Get("conversation")
	if !found {
		t.Fatalf("%s: no section %q", c.Path(), "conversation")
	}
	before, _, _ := bytes.Cut(file, []byte("-- conversation --\n"))
	firstLine := 1 + bytes.Count(before, []byte("\n"))
	script, err := conversation.Parse(text)
	if err != nil {
		t.Fatalf("%s: conversation (after line %d): %v", c.Path(), firstLine, err)
	}
	s, err := parseSetup(setupText)
	if err != nil {
		t.Fatalf("%s: setup: %v", c.Path(), err)
	}
	p := player{
		spread: spread,
		script: script, setup: s, path: c.Path(), firstLine: firstLine,
		updating: flag.Lookup("update").Value.String() == "true",
		replaced: map[int]wire.Value{},
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		p.play(t)
	})
	if spread != nil && spread.excepted != "" {
		if spread.failed == "" && spread.excepted != ownJitter && spread.excepted != brokenOff { // chance decides on that
			t.Fatalf("it passes, though it is said that it cannot: %s", spread.excepted)
		}
		t.Skipf("%s (%s)", spread.excepted, spread.failed)
	}
	c.Got("conversation", script.Replace(p.replaced))
}

// epoch is when conversations begin: the time at which the tasks of the cases of
// PROTOCOL.md §7 were made.
var epoch = time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)

// TestCases: every message case of PROTOCOL.md §7 is a
// conversation.
func TestCases(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("../testdata/spec/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for id := range strings.FieldsSeq(string(cases)) {
		files, err := filepath.Glob("../testdata/golden/conversation/" + id + "-*.txtar")
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d conversations, error %v", id, len(files), err)
		}
	}
}
