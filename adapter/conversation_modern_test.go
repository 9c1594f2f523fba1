package adapter_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// nameParams are the members of params that Mcp-Name repeats, by method (§3.8).
var nameParams = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
	"tasks/get": "taskId", "tasks/cancel": "taskId", "tasks/update": "taskId",
}

// describe adds the headers that a modern client sends with a message: what they
// say is what the message says, as far as it is readable. Mcp-Param-* are written
// where a conversation is about them.
func describe(header http.Header, message wire.Value) {
	message, err := wire.Check([]byte(message))
	if err != nil {
		message = "" // it is no JSON, and meant to be none
	}
	version := "2026-07-28"
	if text, ok := message.Get("params").Get("_meta").Get(wire.MetaProtocolVersion).Text(); ok {
		version = text
	}
	header.Set("MCP-Protocol-Version", version)
	method, ok := message.Get("method").Text()
	if !ok {
		return
	}
	header.Set("Mcp-Method", method)
	if text, ok := message.Get("params").Get(nameParams[method]).Text(); ok && nameParams[method] != "" {
		header.Set("Mcp-Name", encoded(text))
	}
}

// stateless checks what holds for everything that a modern client is told: it is
// asked nothing, there is no session, least of all the server's, and no event can be
// come back to (B-L1, B-L2, G-5, §6.2).
func (p *player) stateless(x *clientExchange, m said) {
	message := wire.Value(m.text)
	if message.Get("method").Present() && message.Get("id").Present() {
		p.fail("a modern client is sent a request: %s", m.text)
	}
	if m.id != "" {
		p.fail("an event of a modern client has the id %q", m.id)
	}
	header := x.answer().header
	if server := p.upstream.legacy; server != nil {
		for _, id := range server.issued() {
			if strings.Contains(m.text, id) || strings.Contains(fmt.Sprint(header), id) {
				p.fail("a modern client is told of the session %q: %s %v", id, m.text, header)
			}
		}
	}
	if id, there := header["Mcp-Session-Id"]; there {
		p.fail("Mcp-Session-Id: want none, got %q", id)
	}
	if got := header.Get("X-Accel-Buffering"); x.answer().stream && got != "no" {
		p.fail("X-Accel-Buffering of a stream: want no, got %q", got)
	}
}
