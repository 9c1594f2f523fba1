package adapter_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// patience is how long a step waits for what it expects.
const patience = 2 * time.Minute

// player plays the client and the server of a conversation.
type player struct {
	script    *conversation.Script
	setup     setup
	path      string
	firstLine int // of the conversation in its file
	updating  bool
	replaced  map[int]wire.Value // what the bridge said instead, by step

	t        *testing.T
	m        *conversation.Matcher
	events   chan struct{}
	bridge   *fleet
	spread   *spread // over several processes; nil for one
	upstream *upstream
	client   *client

	step     *conversation.Step
	heard    []string // what has been said so far
	secrets  []string // what no log may hold
	session  string   // the default session
	stopping bool
}

// play plays the conversation from its setup to the end of the bridge.
func (p *player) play(t *testing.T) {
	p.t = t
	p.m = conversation.NewMatcher(macros, time.Now)
	p.events = make(chan struct{}, 1)
	var server *legacyServer
	if p.setup.cell.upstream == legacyEra {
		server = newLegacyServer(&p.setup, p.script)
	}
	p.upstream = newUpstream(p.events, server)
	if p.spread != nil {
		p.upstream.shared = newRepeats(p.script, server)
	}
	front := memnet.Listen()
	p.client = newClient(front, p.events)
	p.bridge = &fleet{log: &record{}}
	t.Cleanup(p.clear)
	p.launch(front)
	if p.setup.session != "none" {
		p.handshake()
	}
	for i := range p.script.Steps {
		p.step = &p.script.Steps[i]
		if p.upstream.shared != nil {
			p.upstream.shared.at(i)
		}
		if s := p.spread; s != nil && s.before[i+1] != nil {
			synctest.Wait()
			s.before[i+1](p)
		}
		p.play1()
	}
	p.step = nil
	p.finish()
}

// play1 plays one step.
func (p *player) play1() {
	synctest.Wait()
	p.perform(acts{p.quiet, p.clientSays, p.clientHears, p.upstreamHears, p.upstreamSays})
	synctest.Wait()
}

// acts are how a player performs what a step can be.
type acts struct {
	wait                                     func(time.Duration)
	says, hears, upstreamHears, upstreamSays func()
}

// perform performs the step.
func (p *player) perform(a acts) {
	switch p.step.Event {
	case conversation.Wait:
		a.wait(p.step.For)
	case conversation.UpstreamDown:
		p.upstream.down()
	case conversation.UpstreamUp:
		p.upstream.up()
	case conversation.BridgeStop:
		p.stopping = true
		p.bridge.stop()
	}
	switch p.step.Leg {
	case conversation.ClientToBridge:
		a.says()
	case conversation.BridgeToClient:
		a.hears()
	case conversation.BridgeToUpstream:
		a.upstreamHears()
	case conversation.UpstreamToBridge:
		a.upstreamSays()
	}
}

// fail ends the test, naming the place and what was said before.
func (p *player) fail(format string, args ...any) {
	p.t.Helper()
	where := p.path + ": after the last step"
	if p.step != nil {
		where = fmt.Sprintf("%s:%d: step %d", p.path, p.firstLine+p.step.Line, p.step.Number)
		if p.step.Leg != "" {
			where += ", " + string(p.step.Leg)
		}
	}
	what := fmt.Sprintf(format, args...)
	for _, n := range p.news() {
		what += "\nnot expected yet: " + n.what
	}
	if s := p.spread; s != nil && s.excepted != "" {
		s.failed = what
		p.t.SkipNow()
	}
	for _, line := range p.bridge.log.lines("") {
		what += "\nlog: " + line
	}
	p.t.Fatalf("%s: %s\nso far:\n%s", where, what, strings.Join(p.heard, "\n"))
}

func (p *player) note(format string, args ...any) {
	p.heard = append(p.heard, fmt.Sprintf("  %s  ", time.Now().Format("15:04:05.000"))+fmt.Sprintf(format, args...))
}

// await waits until something holds, and returns false when it is too late.
func (p *player) await(holds func() bool) bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		synctest.Wait()
		if holds() {
			return true
		}
		select {
		case <-p.events:
		case <-late.C:
			return false
		}
	}
}

// news lists what no step has expected, oldest first.
func (p *player) news() []news {
	all := append(p.upstream.news(p.stopping), p.client.news()...)
	slices.SortStableFunc(all, func(a, b news) int { return a.at.Compare(b.at) })
	return all
}

// quiet waits for so long, in which nothing may happen. What happens at its end is
// for the next step.
func (p *player) quiet(d time.Duration) {
	if len(p.news()) > 0 {
		p.fail("the bridge has said more than was expected")
	}
	end := time.Now().Add(d)
	time.Sleep(d)
	synctest.Wait()
	for _, n := range p.news() {
		if n.at.Before(end) {
			p.fail("the bridge was not quiet for %v", d)
		}
	}
	p.note("(%v later)", d)
}

// handshake opens the session that the conversation begins with, as clients do:
// they list the tools of a server that has some.
func (p *player) handshake() {
	x := p.ask("handshake", p.setup.initialize(), "server/discover", p.setup.discover())
	p.joined(x)
	done := p.client.begin("initialized", p.request("POST", p.setup.backend(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	p.await(done.answered)
	if ended, broken := done.end(); !ended || broken != nil {
		p.fail("the handshake failed: %v", broken)
	}
	if p.setup.cell.upstream == modernEra && p.setup.upstream.Get("tools").Present() && !p.setup.unlisted {
		p.ask("listing", `{"jsonrpc":"2.0","id":"listing","method":"tools/list"}`, "tools/list", tools)
	}
}

// ask makes the client send a request, and the server answer what it is asked
// for that, if anything. The exchange must have a result.
func (p *player) ask(name string, message wire.Value, method string, result wire.Value) *clientExchange {
	x := p.client.begin(name, p.request("POST", p.setup.backend(), string(message)))
	p.await(func() bool {
		for _, a := range p.upstream.waiting() {
			if a.method() != method {
				return true
			}
			p.upstream.take(a, wire.Value(`"`+name+`"`))
			answer := reply{body: `{"jsonrpc":"2.0","id":` + string(wire.Value(a.body).Get("id")) + `,"result":` + string(result) + `}`, last: true}
			p.upstream.shared.remember(a, answer)
			a.send(answer)
		}
		return x.answered()
	})
	got, _ := x.next()
	if ended, _ := x.end(); !ended || !wire.Value(got.text).Get("result").Present() {
		p.fail("%s failed: %s", name, got.text)
	}
	return x
}

// joined makes the session of an answer to initialize the default one.
func (p *player) joined(x *clientExchange) {
	p.session = x.answer().header.Get("Mcp-Session-Id")
	p.secrets = append(p.secrets, p.session)
}

// finish ends the conversation, and checks what holds for all of them: nothing was
// said that no step expects, no request is left without an answer, the bridge
// shuts down without a fault and ends every stream, nothing of the other era was
// stopped by the filter, and the log is free of faults and secrets. That no
// goroutine is left is the bubble's to say.
func (p *player) finish() {
	synctest.Wait()
	if len(p.news()) > 0 {
		p.fail("the bridge has said more than was expected")
	}
	for _, x := range p.client.all() {
		if !x.get && !x.over && !p.stopping {
			p.fail("request %s has not been answered", x.name)
		}
	}
	p.stopping = true
	if server := p.upstream.legacy; server != nil {
		server.part()
	}
	if err := p.bridge.drained(); err != nil {
		p.fail("shutdown: %v", err)
	}
	synctest.Wait()
	if waiting := p.upstream.waiting(); len(waiting) > 0 {
		p.fail("requests after the end")
	}
	for _, x := range p.client.all() {
		if ended, _ := x.end(); !ended && !x.over {
			p.fail("exchange %s outlived the bridge, or said more than was expected", x.name)
		}
	}
	hits := p.bridge.log.lines("a message of the other era was stopped")
	if len(hits) > 0 != p.setup.filter {
		p.fail("hits of the leak filter: %v, announced: %v", hits, p.setup.filter)
	}
	if faults := len(p.bridge.log.lines("level=ERROR")) - len(hits); faults > 0 != p.setup.errors {
		p.fail("errors in the log: %d, announced: %v", faults, p.setup.errors)
	}
	if server := p.upstream.legacy; server != nil {
		p.secrets = append(p.secrets, server.issued()...)
		if problems := server.problems(); len(problems) > 0 {
			p.fail("%s", strings.Join(problems, "\n"))
		}
	}
	for _, secret := range p.secrets {
		if lines := p.bridge.log.lines(secret); len(lines) > 0 {
			p.fail("a secret in the log: %v", lines)
		}
	}
}

// clear ends everything, also after a failure.
func (p *player) clear() {
	for _, x := range p.client.all() {
		x.cancel()
	}
	p.upstream.down()
	_ = p.bridge.drained()
	p.client.http.CloseIdleConnections()
	p.client.work.Wait()
	p.upstream.served.Wait()
}
