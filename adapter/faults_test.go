package adapter_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/faultnet"
	"github.com/taskbridge/taskbridge/internal/golden"
	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// everyFault thins the pairs of a message and a fault out: each n-th is run.
var everyFault = flag.Int("faults.every", 400, "run every n-th pair of a message and a fault")

// longest bounds the messages of a leg, one way, that are hit: tables of cases, of
// which some conversations consist, repeat themselves.
const longest = 40

// TestFaults plays every conversation with one message cut, delayed, repeated,
// overtaken or truncated, on either leg and in either direction (DESIGN, promises 2, 3
// and 6). Whatever the fault, see improviser.holds.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/conversation/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d conversations, error %v", len(files), err)
	}
	t.Cleanup(func() { compareTable(t) }) // once all subtests have ended
	seed := 0
	for _, file := range files {
		seed += 37 // so that a thin sample meets every conversation at another place
		t.Run(strings.TrimSuffix(filepath.Base(file), golden.Ext), func(t *testing.T) {
			t.Parallel()
			breakAll(t, file, seed)
		})
	}
}

var legNames = [...]string{"server", "client"}

// breakAll runs a conversation without a fault, to see what there is to hit, and then
// with each fault of the sample.
func breakAll(t *testing.T, file string, seed int) {
	var legs [2][]faultnet.Message
	whole := perform(t, file, nil, true, faultnet.Fault{})
	legs[0], legs[1] = whole.back.Messages(), whole.front.Messages()
	n := seed
	for leg, messages := range legs {
		for _, m := range messages {
			for _, kind := range faultnet.Kinds {
				if m.Number > longest || !kind.Applies(&m) {
					continue
				}
				if n++; n%*everyFault != 0 {
					continue
				}
				fault := faultnet.Fault{Kind: kind, Way: m.Way, Number: m.Number}
				t.Run(fmt.Sprintf("%s/%s %d/%s", legNames[leg], m.Way, m.Number, kind), func(t *testing.T) {
					tell(whole, perform(t, file, whole, leg == 1, fault), legNames[leg], kind)
				})
			}
		}
	}
}

// perform plays a conversation once, unlike the whole one that had no fault, and checks what holds for all of them.
func perform(t *testing.T, file string, whole *improviser, onFront bool, fault faultnet.Fault) *improviser {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := golden.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	steps, _ := parsed.Get("conversation")
	before, _ := parsed.Get("setup")
	script, err := conversation.Parse(steps)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSetup(before)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(before), "times.call_total=") {
		s.set = append(s.set, "times.call_total=20m")
	}
	delayed := fault.Kind == faultnet.DelayShort || fault.Kind == faultnet.DelayLong
	p := &improviser{late: delayed && !onFront, player: player{script: script, setup: s, path: file}}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		p.improvise(t, onFront, fault)
		p.holds(whole)
	})
	return p
}

// holds checks what holds whatever has been broken: every request has ended within the
// deadlines of the bridge, each with one outcome; no tool has run twice; the bridge
// shuts down as it should, with all that it has begun; and its log has neither a panic
// nor an error. That no goroutine is left is the bubble's to say.
func (p *improviser) holds(whole *improviser) {
	p.within(ceiling, func() bool { return p.open() == nil })
	if x := p.open(); x != nil && !p.stopping {
		p.t.Errorf("request %s has no end within %v", x.name, ceiling)
	}
	p.outcome = p.ends()
	for _, x := range p.client.all() {
		if x.ended.IsZero() {
			x.hangUp()
		}
	}
	if whole != nil {
		p.once(whole)
	}
	p.stopping = true
	if server := p.upstream.legacy; server != nil {
		server.part()
	}
	stopped := time.Now()
	p.bridge.stop()
	p.within(time.Minute, func() bool { return len(p.bridge.nodes[0].done) > 0 })
	// A server that hears the last words late, or never, is waited for up to the deadline.
	if err := p.bridge.drained(); err != nil && !p.late {
		p.t.Errorf("shutdown: %v", err)
	}
	if took := time.Since(stopped); took > time.Minute {
		p.t.Errorf("the shutdown took %v", took)
	}
	synctest.Wait()
	for _, line := range p.bridge.log.lines("") {
		switch {
		case strings.Contains(line, "panic"):
			p.t.Errorf("log: %s", line)
		case strings.Contains(line, "a message of the other era was stopped"):
			if !p.setup.filter {
				p.t.Errorf("log: %s", line)
			}
		case strings.Contains(line, "level=ERROR") && !p.setup.errors:
			p.t.Errorf("log: %s", line)
		}
	}
	if p.t.Failed() {
		p.t.Logf("log:\n%s", strings.Join(p.bridge.log.lines(""), "\n"))
		for _, m := range p.front.Messages() {
			p.t.Logf("client leg, %s %d, %s %s %d: %.300s", m.Way, m.Number, m.Form, m.Method, m.Status, m.Body)
		}
		for _, m := range p.back.Messages() {
			p.t.Logf("server leg, %s %d, %s %s %d: %.300s", m.Way, m.Number, m.Form, m.Method, m.Status, m.Body)
		}
	}
}

// open returns a request of the client that has not ended. Those that go on by
// design are none.
func (p *improviser) open() *clientExchange {
	for _, x := range p.client.all() {
		x.mu.Lock()
		open := x.ended.IsZero() && !x.over && !x.get
		x.mu.Unlock()
		if open && !p.goesOn(x) {
			return x
		}
	}
	return nil
}

// goesOn reports whether the exchange lasts by design: a subscription, and the wait for
// the result of a task that may never end.
func (p *improviser) goesOn(x *clientExchange) bool {
	for i := range p.script.Steps {
		step := &p.script.Steps[i]
		method := methodOf(step)
		if step.Leg == conversation.ClientToBridge && (method == "subscriptions/listen" || method == "tasks/result") &&
			(named(step.Message) == x.name || step.Facts.As == x.name) {
			return true
		}
	}
	return false
}

// calls counts the calls of each tool in what has been sent. A call that goes on with
// the answers to questions is none of its own.
func calls(messages []faultnet.Message) map[wire.Value]int {
	count := map[wire.Value]int{}
	for _, m := range messages {
		body, err := wire.Check(m.Body)
		if m.Way != faultnet.ToServer || err != nil {
			continue
		}
		all := []wire.Value{body}
		if body.Kind() == wire.KindArray {
			all = nil
			for _, one := range body.Elements() {
				all = append(all, one)
			}
		}
		for _, one := range all {
			params := one.Get("params")
			if one.Get("method") == `"tools/call"` && !params.Get("requestState").Present() && !params.Get("inputResponses").Present() {
				count[params.Get("name")]++
			}
		}
	}
	return count
}

// once checks that no tool was called more often than the client has asked for it, or
// the bridge without the fault calls it, and that no event comes with two contents.
func (p *improviser) once(whole *improviser) {
	asked, before := calls(p.front.Messages()), calls(whole.back.Messages())
	hit, _ := p.front.Struck()
	for name, times := range calls(p.back.Messages()) {
		// A request that the client's way has doubled was asked for twice.
		if allowed := max(asked[name], before[name]); times > allowed && hit.Form != faultnet.Request {
			p.t.Errorf("the tool %s was called %d times for %d calls", name, times, allowed)
		}
	}
	answers := map[string]string{}
	for _, m := range p.front.Messages() {
		id, data := event(m)
		if id == "" || data == "" {
			continue
		}
		if before, known := answers[id]; known && before != data {
			p.t.Errorf("the event %s came as\n%s\nand as\n%s", id, before, data)
		}
		answers[id] = data
	}
}

// event returns the id and the data of an event; nothing of another message.
func event(m faultnet.Message) (id, data string) {
	if m.Form != faultnet.Event {
		return "", ""
	}
	for line := range strings.Lines(string(m.Body)) {
		if value, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(value)
		}
		if value, ok := strings.CutPrefix(line, "data: "); ok {
			data += strings.TrimSuffix(value, "\n")
		}
	}
	return id, data
}
