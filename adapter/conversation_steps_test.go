package adapter_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// request builds a request with the headers that a client sends.
func (p *player) request(method, route, body string) *http.Request {
	r, err := http.NewRequest(method, frontURL+string(p.setup.cell.client)+"/"+route, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	switch method {
	case http.MethodPost:
		r.Header.Set("Content-Type", "application/json")
	case http.MethodGet:
		r.Header.Set("Accept", "text/event-stream")
	}
	if p.session != "" && wire.Value(body).Get("method") != `"initialize"` {
		r.Header.Set("Mcp-Session-Id", p.session)
	}
	return r
}

// clientSays sends a request of the client, or drops one.
func (p *player) clientSays() {
	f := &p.step.Facts
	if f.Act == conversation.HangUp {
		x := p.client.find(f.On)
		if x == nil {
			p.fail("no exchange %q", f.On)
		}
		p.note("c>b [hang up | on %s]", x.name)
		x.hangUp()
		return
	}
	message := p.step.Message
	if message.Present() && !f.Raw {
		message = p.fill(conversation.ClientToBridge, message)
	}
	r, name, err := p.posed(message)
	if err != nil {
		p.fail("%v", err)
	}
	p.secrets = append(p.secrets, r.Header.Values("Authorization")...)
	p.note("c>b [%s] %s", f, message)
	x := p.client.begin(name, r)
	x.batch = message.Kind() == wire.KindArray
	if p.impliesAccepted() {
		p.await(x.answered)
		p.empty(x, http.StatusAccepted)
	}
}

// posed is the request of the client that the step describes, with this message, and
// under what name its exchange goes.
func (p *player) posed(message wire.Value) (r *http.Request, name string, err error) {
	f := &p.step.Facts
	method, route := f.Method, f.Route
	if method == "" {
		method = http.MethodPost
	}
	if route == "" {
		route = p.setup.backend()
	}
	r = p.request(method, route, string(message)+strings.Repeat(" ", f.Pad))
	if p.setup.cell.client == modernEra && method == http.MethodPost {
		describe(r.Header, message)
	}
	for _, name := range f.Absent {
		r.Header.Del(name)
	}
	for _, h := range f.Headers {
		value, err := p.m.FillText(h.Value)
		if err != nil {
			return nil, "", err
		}
		if value == "<sid>" {
			value = p.session
		}
		r.Header.Set(h.Name, value)
		if strings.EqualFold(h.Name, "Host") {
			r.Host = value
		}
	}
	name = f.As
	switch {
	case name != "":
	case method == http.MethodGet:
		name = http.MethodGet
	default:
		name = named(p.step.Message)
	}
	return r, name, nil
}

// impliesAccepted reports whether this step is a notification or an answer whose
// 202 is not written down. Between peers of one era an answer has that of its server.
func (p *player) impliesAccepted() bool {
	if p.setup.cell == cells["legacy/legacy"] && isResponse(p.step.Message) {
		return false
	}
	if m := p.step.Message; p.step.Facts.Raw || !m.IsObject() || m.Get("method").Present() && m.Get("id").Present() && m.Get("id") != wire.Null {
		return false
	}
	if next := p.step.Number; next < len(p.script.Steps) {
		after := &p.script.Steps[next]
		own := after.Facts.On != "" && after.Facts.On == p.step.Facts.As || !after.Message.Present() && after.Facts.Status != 0
		return after.Leg != conversation.BridgeToClient || !own
	}
	return true
}

func (p *player) fill(leg conversation.Leg, message wire.Value) wire.Value {
	filled, err := p.m.Fill(leg, message)
	if err != nil {
		p.fail("%v", err)
	}
	return filled
}

// clientHears expects a message of the bridge, or the end of an exchange.
func (p *player) clientHears() {
	f := &p.step.Facts
	name := f.On
	if name == "" && isResponse(p.step.Message) {
		name = string(p.step.Message.Get("id"))
	}
	x := p.client.find(name)
	if x == nil {
		p.fail("no exchange %q", name)
	}
	if p.begun(x) {
		return
	}
	if !p.await(x.answered) {
		p.fail("nothing came on %s within %v", x.name, patience)
	}
	if !p.step.Message.Present() {
		p.empty(x, f.Status)
		return
	}
	said, ok := x.next()
	if !ok {
		p.fail("%s has ended without a message", x.name)
	}
	text := said.text
	p.note("b>c [on %s | event %s] %s", x.name, said.id, text)
	p.head(x)
	p.hidden(text)
	if p.setup.cell.client == modernEra {
		p.stateless(x, said)
	}
	if f.Event != "" && !p.m.MatchText(f.Event, said.id) {
		p.fail("event id: want %s, got %q", f.Event, said.id)
	}
	if f.Raw {
		if text != string(p.step.Message) {
			p.fail("want %q, got %q", p.step.Message, text)
		}
		p.empty(x, 0)
		return
	}
	got := p.envelope(text)
	p.match(got)
	if !isResponse(got) || x.batch && x.answer().stream {
		return
	}
	if ended, broken := x.end(); !ended || broken != nil {
		p.fail("the exchange goes on after its response (%v)", broken)
	}
	if x.answer().header.Get("Mcp-Session-Id") != "" && f.On == "" && p.session == "" {
		p.joined(x)
	}
}

// begun checks how a stream has begun, and reports whether the step says no more.
func (p *player) begun(x *clientExchange) (all bool) {
	f := &p.step.Facts
	if f.Primed == "" && !f.Unprimed {
		return false
	}
	if !p.await(func() bool { return x.answered() || x.begun() != "" }) {
		p.fail("nothing came on %s within %v", x.name, patience)
	}
	switch got := x.begun(); {
	case f.Unprimed && got != "":
		p.fail("%s has begun with the event %s, without a message", x.name, got)
	case f.Primed != "" && !p.m.MatchText(f.Primed, got):
		p.fail("the event that %s begins with: want %s, got %q", x.name, f.Primed, got)
	}
	return !p.step.Message.Present() && f.Status == 0 && f.Act == ""
}

// hidden checks that a client is told no session id of the other leg (§6.2).
func (p *player) hidden(text string) {
	if p.upstream.legacy == nil {
		return
	}
	for _, id := range p.upstream.legacy.issued() {
		if strings.Contains(text, id) {
			p.fail("the client is told the session id %s of the server: %s", id, text)
		}
	}
}

// empty expects that an exchange has ended without another message: with this
// status, if it is not 0, and no body, or as a stream.
func (p *player) empty(x *clientExchange, status int) {
	ended, broken := x.end()
	if !ended || broken != nil {
		p.fail("%s has not ended, or not well: %v", x.name, broken)
	}
	p.head(x)
	got := x.answer().status
	if status != 0 && got != status {
		p.fail("status of %s: want %d, got %d", x.name, status, got)
	}
	p.note("b>c [%d | end | on %s]", got, x.name)
}

// head compares what the step says of the head of an answer.
func (p *player) head(x *clientExchange) {
	got := x.answer()
	if got == nil || p.step.Leg != conversation.BridgeToClient {
		return
	}
	f := &p.step.Facts
	want := f.Status
	if want == 0 && p.step.Message.Present() {
		want = http.StatusOK
	}
	if want != 0 && got.status != want {
		p.fail("status: want %d, got %d", want, got.status)
	}
	if f.Form != "" && (f.Form == conversation.SSE) != got.stream {
		p.fail("want the answer as %s, got Content-Type %q", f.Form, got.header.Get("Content-Type"))
	}
	p.headers(got.header)
}

// headers compares the headers that the step names.
func (p *player) headers(got http.Header) {
	for _, h := range p.step.Facts.Headers {
		if value := strings.Join(got.Values(h.Name), ", "); !p.m.MatchText(h.Value, value) {
			p.fail("%s: want %q, got %q", h.Name, h.Value, value)
		}
	}
	for _, name := range p.step.Facts.Absent {
		if value, there := got[http.CanonicalHeaderKey(name)]; there {
			p.fail("%s: want none, got %q", name, value)
		}
	}
}

// match compares a message with that of the step.
func (p *player) match(got wire.Value) {
	leg := p.step.Leg
	diffs, err := p.m.Match(leg, p.step.Message, got)
	if err != nil {
		p.fail("%v", err)
	}
	if len(diffs) == 0 {
		return
	}
	if p.updating {
		rendered := p.m.Render(leg, p.step.Message, got)
		p.replaced[p.step.Number] = rendered
		diffs, _ = p.m.Match(leg, rendered, got)
	}
	if len(diffs) > 0 {
		p.fail("the message differs:\n%s\nwant %s\ngot  %s", listed(diffs), p.step.Message, got)
	}
}

func listed(diffs []conversation.Difference) string {
	lines := make([]string, len(diffs))
	for i, d := range diffs {
		lines[i] = "  " + d.String()
	}
	return strings.Join(lines, "\n")
}

// upstreamHears expects a request of the bridge, or that it drops one.
func (p *player) upstreamHears() {
	f := &p.step.Facts
	if f.Act == conversation.Abort {
		a := p.upstream.find(wire.Value(f.On))
		if a == nil {
			p.fail("no exchange %q", f.On)
		}
		if !p.await(func() bool { _, dropped := a.dropped(); return dropped }) {
			p.fail("%s was not dropped within %v", a.id, patience)
		}
		a.finish()
		p.note("b>u [abort | on %s]", a.id)
		return
	}
	if !p.await(func() bool { return len(p.upstream.waiting()) > 0 }) {
		p.fail("no request came within %v", patience)
	}
	a := p.pick()
	p.note("b>u [Host: %s] %s %s", a.host, a.http, a.body)
	p.upstream.take(a, p.nameOf(a))
	p.m.Within(p.upstream.session(a))
	if got := p.sent(a); p.step.Message.Present() || got.Present() {
		p.match(got)
	}
	p.headers(p.unrepeated(a))
	if p.upstream.legacy != nil {
		if problem := p.upstream.legacy.check(a, f); problem != "" {
			p.fail("%s", problem)
		}
	} else {
		p.standardHeaders(a.header, wire.Value(a.body))
	}
	if a.silent() && !p.impliedReply(a) {
		a.send(reply{facts: conversation.Facts{Status: http.StatusAccepted}, last: true})
	}
}

// sent is the message of a request of the bridge; absent where there is none.
func (p *player) sent(a *arrival) wire.Value {
	if a.http != http.MethodPost {
		return wire.Value(a.body)
	}
	return p.envelope(string(a.body))
}

// nameOf is the name of the exchange that the step expects the bridge to begin.
func (p *player) nameOf(a *arrival) wire.Value {
	switch {
	case p.step.Facts.As != "":
		return wire.Value(p.step.Facts.As)
	case a.http != http.MethodPost:
		return wire.Value(a.http)
	case !a.silent():
		return p.step.Message.Get("id")
	case a.method() != "":
		return wire.Value(a.method())
	default:
		return "response"
	}
}

// impliedReply reports whether the next step is the server's answer to a message
// that has no response: if not, it is accepted.
func (p *player) impliedReply(a *arrival) bool {
	next := p.step.Number
	if next == len(p.script.Steps) {
		return false
	}
	after := &p.script.Steps[next]
	return after.Leg == conversation.UpstreamToBridge && wire.Value(after.Facts.On) == a.id
}

// envelope reads a message of the bridge, which holds what JSON-RPC names and
// nothing else (G-4).
func (p *player) envelope(text string) wire.Value {
	message, err := wire.Check([]byte(text))
	if err != nil {
		p.fail("%v: %s", err, text)
	}
	if message.Kind() == wire.KindArray && p.step.Leg == conversation.BridgeToClient {
		for _, one := range message.Elements() {
			p.envelope(string(one))
		}
		return message
	}
	var names []string
	for m := range message.Members() {
		names = append(names, m.Name)
	}
	switch strings.Join(names, " ") {
	case "jsonrpc id method", "jsonrpc id method params", "jsonrpc method", "jsonrpc method params", "jsonrpc id result", "jsonrpc id error", "jsonrpc error":
	default:
		p.fail("no message of JSON-RPC: %s", text)
	}
	return message
}

// pick returns the request that the step expects, or the oldest: those that are
// sent at the same time may come in any order.
func (p *player) pick() *arrival {
	waiting := p.upstream.waiting()
	method := p.step.Facts.Method
	if method == "" {
		method = http.MethodPost
	}
	for _, a := range waiting {
		switch {
		case a.http != method:
			continue
		case method != http.MethodPost:
			return a
		}
		got, err := wire.Check(a.body)
		if err != nil {
			continue
		}
		p.m.Within(p.upstream.session(a))
		if p.m.Agrees(conversation.BridgeToUpstream, p.step.Message, got) {
			return a
		}
	}
	return waiting[0]
}

// standardHeaders checks what accompanies every request to a modern server
// (A-U2, §3.8), whether a conversation says so or not.
func (p *player) standardHeaders(got http.Header, message wire.Value) {
	method, _ := message.Get("method").Text()
	params := message.Get("params")
	if method == "initialize" {
		return // of the other era, whose headers begin with the session
	}
	want := map[string][]string{
		"Content-Type":         {"application/json"},
		"Accept":               {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"},
		"Mcp-Method":           {method},
		"Mcp-Name":             nil,
		"Mcp-Session-Id":       nil,
		"Last-Event-Id":        nil,
	}
	if member, ok := nameParams[method]; ok {
		text, _ := params.Get(member).Text()
		want["Mcp-Name"] = []string{encoded(text)}
	}
	if _, said := p.step.Facts.Header("Authorization"); !said {
		want["Authorization"] = nil
	}
	for name, values := range want {
		if !slices.Equal(got[name], values) {
			p.fail("%s: want %q, got %q", name, values, got[name])
		}
	}
}

// encoded is a header value as §3.8 spells it.
func encoded(text string) string {
	plain := text != "" && strings.TrimSpace(text) == text
	for _, r := range text {
		plain = plain && r >= ' ' && r <= '~'
	}
	if plain && !(strings.HasPrefix(text, "=?base64?") && strings.HasSuffix(text, "?=")) {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// upstreamSays makes the server say something, or break off.
func (p *player) upstreamSays() {
	f := &p.step.Facts
	message, on := p.step.Message, wire.Value(f.On)
	response := isResponse(message) && !f.Raw
	if on == "" && response {
		on = message.Get("id")
	}
	a := p.upstream.find(on)
	if a == nil {
		p.fail("no exchange %q", on)
	}
	if message.Present() && !f.Raw {
		message = p.fill(conversation.UpstreamToBridge, message)
	}
	p.note("u>b [%s] %s", f, message)
	last := response || f.Raw && f.Form != conversation.SSE || f.Act != "" || f.Status != 0
	body := string(message)
	if !f.Raw {
		body = strings.ReplaceAll(body, "\n", "")
	}
	if p.upstream.legacy != nil {
		p.upstream.legacy.said(f, message)
	}
	answer := reply{facts: *f, body: body, last: last}
	if p.spread != nil && f.On == http.MethodGet && strings.HasSuffix(string(message.Get("method")), `list_changed"`) {
		p.upstream.tellOthers(a, answer)
	}
	p.upstream.shared.remember(a, answer)
	if !a.send(answer) {
		p.fail("%s has ended already", a.id)
	}
}
