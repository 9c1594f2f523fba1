package adapter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/faultnet"
	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// improviser plays a conversation on which a fault falls. It follows the script as far
// as that goes: what does not come is not waited for for long, what cannot be said is
// left out, and what the script does not have the bridge ask is answered as the script
// answers the same request elsewhere.
type improviser struct {
	player
	front, back *faultnet.Proxy
	late        bool     // the fault may make the server miss the shutdown
	outcome     []ending // what became of the client's exchanges
}

// Times of an improviser: how long it waits for what the script expects, and after the
// script for the end of every request, which the deadlines of the bridge must bring.
const (
	shortPatience = 10 * time.Second
	ceiling       = 40 * time.Minute
)

// improvise plays the conversation with the fault, on the leg of the client or of the
// server, to the end of the bridge.
func (p *improviser) improvise(t *testing.T, onFront bool, fault faultnet.Fault) {
	p.t = t
	p.m = conversation.NewMatcher(macros, time.Now)
	p.events = make(chan struct{}, 1)
	var server *legacyServer
	if p.setup.cell.upstream == legacyEra {
		server = newLegacyServer(&p.setup, p.script)
	}
	front := memnet.Listen()
	p.upstream = newUpstream(p.events, server)
	none := faultnet.Fault{}
	p.front, p.back = faultnet.New(front.Dial, none), faultnet.New(p.upstream.reach(0), none)
	if onFront {
		p.front = faultnet.New(front.Dial, fault)
	} else {
		p.back = faultnet.New(p.upstream.reach(0), fault)
	}
	p.upstream.leg = p.back
	p.client = newClient(front, p.events)
	p.client.http.Transport = &http.Transport{DialContext: p.front.Dial}
	t.Cleanup(func() {
		p.clear()
		p.front.Close()
		p.back.Close()
	})
	p.bridge = &fleet{log: &record{}}
	p.launch(front)
	if p.setup.session != "none" {
		p.welcome()
	}
	for i := range p.script.Steps {
		p.step = &p.script.Steps[i]
		synctest.Wait()
		p.attempt()
	}
	p.step = nil
	synctest.Wait()
}

// welcome is the handshake, as far as the fault lets it through.
func (p *improviser) welcome() {
	x := p.client.begin("handshake", p.request(http.MethodPost, p.setup.backend(), string(p.setup.initialize())))
	p.patient(x.answered)
	if head := x.answer(); head != nil {
		p.session = head.header.Get("Mcp-Session-Id")
	}
	x.next()
	done := p.client.begin("initialized", p.request(http.MethodPost, p.setup.backend(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	p.patient(done.answered)
	if p.setup.cell.upstream == modernEra && p.setup.upstream.Get("tools").Present() && !p.setup.unlisted {
		x := p.client.begin("listing", p.request(http.MethodPost, p.setup.backend(), `{"jsonrpc":"2.0","id":"listing","method":"tools/list"}`))
		p.patient(x.answered)
		x.next()
	}
}

// patient waits a while until something holds, and answers meanwhile what the script
// does not speak of.
func (p *improviser) patient(holds func() bool) bool {
	return p.within(shortPatience, holds)
}

func (p *improviser) within(d time.Duration, holds func() bool) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	for {
		synctest.Wait()
		p.answerOthers()
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

// attempt plays one step, as far as possible.
func (p *improviser) attempt() {
	wait := func(d time.Duration) { p.within(d, func() bool { return false }) }
	p.perform(acts{wait, p.trySay, p.tryHear, p.tryServe, p.tryReply})
}

func (p *improviser) trySay() {
	f := &p.step.Facts
	if f.Act == conversation.HangUp {
		if x := p.client.find(f.On); x != nil {
			x.hangUp()
		}
		return
	}
	message := p.step.Message
	if message.Present() && !f.Raw {
		filled, err := p.m.Fill(conversation.ClientToBridge, message)
		if err != nil {
			return // it speaks of what was never heard
		}
		message = filled
	}
	r, name, err := p.posed(message)
	if err != nil {
		return
	}
	x := p.client.begin(name, r)
	x.batch = message.Kind() == wire.KindArray
	if p.impliesAccepted() {
		p.patient(x.answered)
	}
}

func (p *improviser) tryHear() {
	name := p.step.Facts.On
	if name == "" && isResponse(p.step.Message) {
		name = string(p.step.Message.Get("id"))
	}
	x := p.client.find(name)
	f := &p.step.Facts
	if x == nil {
		return
	}
	if f.Primed != "" {
		p.patient(func() bool { return x.answered() || x.begun() != "" })
		p.m.MatchText(f.Primed, x.begun())
		if !p.step.Message.Present() && f.Status == 0 && f.Act == "" {
			return
		}
	}
	if !p.patient(x.answered) || !p.step.Message.Present() {
		return
	}
	said, ok := x.next()
	if !ok {
		return
	}
	if f.Event != "" {
		p.m.MatchText(f.Event, said.id)
	}
	if got, err := wire.Check([]byte(said.text)); err == nil && !f.Raw {
		_, _ = p.m.Match(conversation.BridgeToClient, p.step.Message, got)
		if head := x.answer(); head != nil && p.session == "" && p.setup.cell.client == legacyEra {
			p.session = head.header.Get("Mcp-Session-Id")
		}
	}
}

// expected finds the request that the step expects among those that wait, by method.
func (p *improviser) expected(step *conversation.Step) *arrival {
	method := step.Facts.Method
	if method == "" {
		method = http.MethodPost
	}
	want := methodOf(step)
	for _, a := range p.upstream.waiting() {
		if a.http == method && (method != http.MethodPost || a.method() == want) {
			return a
		}
	}
	return nil
}

func (p *improviser) tryServe() {
	if p.step.Facts.Act == conversation.Abort {
		if a := p.upstream.find(wire.Value(p.step.Facts.On)); a != nil {
			p.patient(func() bool { _, dropped := a.dropped(); return dropped })
			a.finish()
		}
		return
	}
	if !p.patient(func() bool { return p.expected(p.step) != nil }) {
		return
	}
	a := p.expected(p.step)
	p.take(a, p.step)
	if a.silent() && !p.impliedReply(a) {
		a.send(reply{facts: conversation.Facts{Status: http.StatusAccepted}, last: true})
	}
}

func (p *improviser) take(a *arrival, step *conversation.Step) {
	before := p.step
	p.step = step
	p.upstream.take(a, p.nameOf(a))
	p.step = before
	p.m.Within(p.upstream.session(a))
	if got, err := wire.Check(a.body); err == nil {
		_, _ = p.m.Match(conversation.BridgeToUpstream, step.Message, got)
	}
}

func (p *improviser) tryReply() {
	f := &p.step.Facts
	message, on := p.step.Message, wire.Value(f.On)
	response := isResponse(message) && !f.Raw
	if on == "" && response {
		on = message.Get("id")
	}
	a := p.upstream.find(on)
	if a == nil {
		return
	}
	if message.Present() && !f.Raw {
		filled, err := p.m.Fill(conversation.UpstreamToBridge, message)
		if err != nil {
			return
		}
		message = filled
		if id := wire.Value(a.body).Get("id"); response && id.Present() {
			message = answerOf(message, id)
		}
	}
	body := string(message)
	if !f.Raw {
		body = strings.ReplaceAll(body, "\n", "")
	}
	if p.upstream.legacy != nil {
		p.upstream.legacy.said(f, message)
	}
	a.send(reply{facts: *f, body: body, last: response || f.Raw && f.Form != conversation.SSE || f.Act != "" || f.Status != 0})
}

// answerOf is a response under another id.
func answerOf(message, id wire.Value) wire.Value {
	member := "result"
	if message.Get("error").Present() {
		member = "error"
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"` + wire.Value(member) + `":` + message.Get(member) + `}`
}

// answerOthers answers what no step from here on expects.
func (p *improviser) answerOthers() {
	for _, a := range p.upstream.waiting() {
		if p.step != nil && p.comes(a) {
			continue
		}
		p.upstream.take(a, wire.Value(fmt.Sprintf("unscripted %p", a)))
		a.finish()
		switch id := wire.Value(a.body).Get("id"); {
		case a.http == http.MethodGet:
			a.send(reply{facts: conversation.Facts{Status: http.StatusMethodNotAllowed}, last: true})
		case a.silent():
			a.send(reply{facts: conversation.Facts{Status: http.StatusAccepted}, last: true})
		default:
			a.send(reply{body: string(answerOf(p.scripted(a), id)), last: true})
		}
	}
}

// comes reports whether a step that is still to come expects such a request.
func (p *improviser) comes(a *arrival) bool {
	for i := p.step.Number - 1; i < len(p.script.Steps); i++ {
		step := &p.script.Steps[i]
		if step.Leg != conversation.BridgeToUpstream || step.Facts.Act != "" {
			continue
		}
		want := methodOf(step)
		if (a.http == http.MethodPost) == (step.Facts.Method == "") && a.method() == want {
			return true
		}
	}
	return false
}

// methodOf is the method of the message of a step, if that is one.
func methodOf(step *conversation.Step) string {
	if step.Facts.Raw {
		return ""
	}
	method, _ := step.Message.Get("method").Text()
	return method
}

// scripted is the last answer that the script has to such a request.
func (p *improviser) scripted(a *arrival) wire.Value {
	answer := wire.Value(`{"error":{"code":-32601,"message":"not in the script"}}`)
	switch a.method() {
	case "server/discover":
		answer = `{"result":` + p.setup.discover() + `}`
	case "tools/list":
		answer = `{"result":` + tools + `}`
	}
	for i := range p.script.Steps {
		step := &p.script.Steps[i]
		if step.Leg != conversation.BridgeToUpstream || methodOf(step) != a.method() {
			continue
		}
		for j := i + 1; j < len(p.script.Steps); j++ {
			after := &p.script.Steps[j]
			if after.Leg == conversation.UpstreamToBridge && !after.Facts.Raw && isResponse(after.Message) && after.Message.Get("id") == step.Message.Get("id") {
				if filled, err := p.m.Fill(conversation.UpstreamToBridge, after.Message); err == nil {
					answer = filled
				}
			}
		}
	}
	return answer
}
