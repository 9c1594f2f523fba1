package adapter_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/taskbridge/taskbridge/internal/faultnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// writeFaults makes TestFaults write the table instead of comparing with it.
var writeFaults = flag.Bool("faults.write", false, "write docs/faults.md")

const faultsPage = "../docs/faults.md"

const faultsHead = `# What each fault becomes

Written by ` + "`make faults`" + `, which plays the conversations of testdata/golden/conversation
with one message broken: of all pairs of a message and a fault one in %d. Each line is a
kind of message on the leg of the client or of the server, and a fault; and what clients
were seen to get, for the first request that ends otherwise than without the fault. Where
that is "nothing changes", none did. In every run every request but tasks/result ended in
time, no tool was called more often than its client called it or than without the fault, no
event had two contents, and the bridge stopped in order. The first 40 messages of each leg
and direction are broken; what clients do again afterwards is not part of it.

| Leg | Message | Fault | What the client gets |
|---|---|---|---|
`

// become holds the effects, by the beginning of a line of the table.
var become = struct {
	sync.Mutex
	rows map[string]map[string]bool
}{rows: map[string]map[string]bool{}}

// tell notes what became of a fault.
func tell(whole, broken *improviser, leg string, kind faultnet.Kind) {
	proxy := broken.front
	if leg == "server" {
		proxy = broken.back
	}
	m, hit := proxy.Struck()
	if !hit {
		return // what was to be hit did not come this time
	}
	row := fmt.Sprintf("| %s | %s | %s |", leg, kindOf(m), kind)
	become.Lock()
	defer become.Unlock()
	if become.rows[row] == nil {
		become.rows[row] = map[string]bool{}
	}
	for i, now := range broken.outcome {
		if i >= len(whole.outcome) || now != whole.outcome[i] {
			become.rows[row][now.end] = true
			return
		}
	}
}

// kindOf is the kind of a message, as the table names it.
func kindOf(m faultnet.Message) string {
	text := m.Body
	if m.Form == faultnet.Event {
		_, data := event(m)
		text = []byte(data)
	}
	where := "answer"
	switch {
	case m.Form == faultnet.Head:
		return "head of a stream"
	case m.Form == faultnet.Event:
		where = "event"
	case m.Way == faultnet.ToServer && m.Method != "POST":
		return m.Method
	case m.Way == faultnet.ToServer:
		where = "request"
	}
	v, err := wire.Check(text)
	method, _ := v.Get("method").Text()
	switch {
	case err != nil || !v.IsObject():
		return where + " with no message"
	case method == "":
		return where + " with a response"
	case !v.Get("id").Present():
		return where + " with a notification"
	case where == "event":
		return "event with a question"
	case method == "tools/call", method == "initialize", strings.HasPrefix(method, "tasks/"):
		return where + " with " + method
	}
	return where + " of another method"
}

// ending is how an exchange of the client has ended, in classes.
type ending struct{ name, end string }

// ends says how each exchange of the client has ended so far.
func (p *improviser) ends() (all []ending) {
	for _, x := range p.client.all() {
		all = append(all, ending{x.name, x.class()})
	}
	return all
}

func (x *clientExchange) class() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.ended.IsZero() || x.over && x.broken != nil:
		return "it still waits"
	case x.broken != nil && x.head == nil:
		return "the connection breaks before an answer"
	case x.broken != nil:
		return "the connection breaks within the answer"
	}
	v, err := wire.Check([]byte(x.last))
	switch code := v.Get("error").Get("code"); {
	case err == nil && strings.HasPrefix(string(code), "-32") && len(code) == len("-32603"):
		return "error " + string(code)
	case err == nil && code.Present():
		return "an error of the server's own"
	case err == nil && v.Get("result").Present():
		return "a result"
	case x.head != nil && x.head.status >= 400:
		return fmt.Sprintf("status %d", x.head.status)
	}
	return "an answer without a response"
}

// compareTable fails where docs/faults.md lacks a line for what was broken just now. What
// a client sees of it may depend on who is first, so that another effect than those seen
// before is only logged.
func compareTable(t *testing.T) {
	become.Lock()
	defer become.Unlock()
	lines := []string{}
	page, err := os.ReadFile(faultsPage)
	if err != nil && !*writeFaults {
		t.Fatal(err)
	}
	for _, row := range slices.Sorted(maps.Keys(become.rows)) {
		effects := slices.Sorted(maps.Keys(become.rows[row]))
		if len(effects) == 0 {
			effects = []string{"nothing changes"}
		}
		lines = append(lines, row+" "+strings.Join(effects, "; ")+" |")
		if *writeFaults {
			continue
		}
		_, after, known := bytes.Cut(page, []byte("\n"+row+" "))
		cell, _, _ := bytes.Cut(after, []byte(" |\n"))
		written := strings.Split(string(cell), "; ")
		if !known {
			t.Errorf("%s: %s is not there: run make faults", faultsPage, row)
		}
		for _, effect := range effects {
			if effect != "nothing changes" && !slices.Contains(written, effect) {
				t.Logf("%s: %s %q was not seen before", faultsPage, row, effect)
			}
		}
	}
	if *writeFaults {
		if err := os.WriteFile(faultsPage, []byte(fmt.Sprintf(faultsHead, *everyFault)+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
