package adapter_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// legacyServer is what a server of 2025-11-25 does by itself: it opens sessions,
// accepts that they are open, holds a standing stream for each, lists its tools and
// ends sessions, and after the end it is told what nobody waits for. It does none of these by itself in a conversation that shows it once.
type legacyServer struct {
	setup *setup
	shown map[string]bool // methods, of HTTP too, that the conversation shows

	mu       sync.Mutex
	opened   int
	reopened int
	ids      []string          // of sessions, as given out
	ended    []string          // of sessions that the bridge has ended
	versions map[string]string // that were chosen, by session
	like     map[string]string // the sessions that those of reopen stand for
	breaches []string          // what the bridge has done wrong where nobody looked
	// parting is set once the conversation is over: what is still open then is taken
	// back without a word in the conversation.
	parting bool
}

const cancelled = "notifications/cancelled"

func newLegacyServer(s *setup, script *conversation.Script) *legacyServer {
	l := &legacyServer{setup: s, shown: map[string]bool{}, versions: map[string]string{}, like: map[string]string{}}
	for _, step := range script.Steps {
		if step.Leg != conversation.BridgeToUpstream {
			continue
		}
		method, _ := step.Message.Get("method").Text()
		l.shown[method], l.shown[step.Facts.Method] = true, true
	}
	return l
}

// serve returns what the server does with a request by itself, if anything.
func (l *legacyServer) serve(a *arrival) (reply, bool) {
	what := a.method()
	if a.http != http.MethodPost {
		what = a.http
	}
	l.mu.Lock()
	parting := l.parting && what == cancelled
	l.mu.Unlock()
	if l.shown[what] && !parting {
		return reply{}, false
	}
	a.auto = true
	answer := reply{last: true}
	switch what {
	case cancelled:
		if a.auto = parting; !parting {
			return reply{}, false
		}
		answer.facts.Status = http.StatusAccepted
	case http.MethodGet:
		answer = reply{}
	case http.MethodDelete:
	case wire.MethodInitialize:
		if id := l.open(); id != "" {
			answer.facts.Headers = []conversation.Header{{Name: "Mcp-Session-Id", Value: id}}
		}
		answer.body = l.response(a, `{"protocolVersion":"`+l.setup.version+`","capabilities":`+string(l.setup.upstream)+`,"serverInfo":{"name":"basalt","version":"2.4.0"}}`)
	case "notifications/initialized":
		answer.facts.Status = http.StatusAccepted
	case "tools/list":
		answer.body = l.response(a, `{"tools":`+string(l.setup.tools)+`}`)
	default:
		a.auto = false
		return reply{}, false
	}
	if breach := l.check(a, &conversation.Facts{}); breach != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.breaches = append(l.breaches, breach)
	}
	return answer, true
}

func (l *legacyServer) response(a *arrival, result string) string {
	return `{"jsonrpc":"2.0","id":` + string(wire.Value(a.body).Get("id")) + `,"result":` + result + `}`
}

// open gives out the id of a new session, or none.
func (l *legacyServer) open() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := ""
	if l.opened++; !l.setup.noIDs {
		id = fmt.Sprintf("LS-%d", l.opened)
		l.ids = append(l.ids, id)
	}
	l.versions[id] = l.setup.version
	return id
}

// reopen gives out the id of a session that another process opens, as the
// conversation has shown it once.
func (l *legacyServer) reopen(like string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reopened++
	id := fmt.Sprintf("LR-%d", l.reopened)
	l.ids = append(l.ids, id)
	l.versions[id], l.like[id] = l.versions[like], like
	return id
}

// standsFor returns the session of the conversation that one of reopen stands for.
func (l *legacyServer) standsFor(id string) (like string, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	like, found = l.like[id]
	return like, found
}

// said notes what the server says of a session where the conversation shows that.
func (l *legacyServer) said(f *conversation.Facts, message wire.Value) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, given := f.Header("Mcp-Session-Id")
	if given {
		l.ids = append(l.ids, id)
	}
	if version, ok := message.Get("result").Get("protocolVersion").Text(); ok {
		l.versions[id] = version
	}
}

// part ends the conversation.
func (l *legacyServer) part() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parting = true
}

// issued returns the ids of all sessions.
func (l *legacyServer) issued() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ids)
}

// problems lists what the bridge has done wrong where no step has looked.
func (l *legacyServer) problems() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.breaches)
}

// check says what is wrong with the headers of a request to a legacy server, whether
// a conversation speaks of them or not (B-U2, §3.8 last line, §6.1), or nothing.
func (l *legacyServer) check(a *arrival, f *conversation.Facts) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	want := map[string][]string{
		"Accept":               {"application/json, text/event-stream"},
		"Content-Type":         {"application/json"},
		"Mcp-Protocol-Version": {l.versions[a.header.Get("Mcp-Session-Id")]},
		"Mcp-Method":           nil, "Mcp-Name": nil,
		"Last-Event-Id": nil, "Authorization": nil,
	}
	if a.auto { // whose credential it is, the requests say that are shown
		delete(want, "Authorization")
	}
	session := a.header.Get("Mcp-Session-Id")
	if session != "" && slices.Contains(l.ended, session) {
		return fmt.Sprintf("%s %s: in the session %q, which has been ended", a.http, a.method(), session)
	}
	switch {
	case a.method() == wire.MethodInitialize:
		want["Mcp-Session-Id"], want["Mcp-Protocol-Version"] = nil, nil
	case a.http == http.MethodGet:
		want["Accept"], want["Content-Type"] = []string{"text/event-stream"}, nil
		delete(want, "Last-Event-Id")
	case a.http == http.MethodDelete:
		l.ended = append(l.ended, session)
		delete(want, "Accept")
		if a.header["Mcp-Protocol-Version"] == nil {
			delete(want, "Mcp-Protocol-Version") // none was agreed upon
		}
		want["Content-Type"] = nil
	}
	if _, set := want["Mcp-Session-Id"]; !set && (len(l.ids) > 0) != slices.Contains(l.ids, session) {
		return fmt.Sprintf("%s %s: Mcp-Session-Id %q is none of %q", a.http, a.method(), session, l.ids)
	}
	for name, values := range want {
		if _, said := f.Header(name); !said && !slices.Equal(a.header[name], values) {
			return fmt.Sprintf("%s %s: %s: want %q, got %q", a.http, a.method(), name, values, a.header[name])
		}
	}
	for name := range a.header {
		if strings.HasPrefix(name, "Mcp-Param-") {
			return fmt.Sprintf("%s %s: %s at a legacy server", a.http, a.method(), name)
		}
	}
	return ""
}
