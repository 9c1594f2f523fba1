package main

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestDemoModern(t *testing.T) {
	t.Parallel()
	out, errOut, stop := start(t, variables(t), "demo", "modern", "--listen", "127.0.0.1:0")
	url, ok := <-out.lines
	if !ok || !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/mcp") || strings.Contains(url, ":0/") {
		t.Fatalf("first line %q, errors %q; want the URL with its real port", url, errOut)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"server/discover"}}
	status, answer, _ := post(t, url, body, header)
	if status != http.StatusOK || !strings.Contains(answer, "io.modelcontextprotocol/tasks") {
		t.Errorf("discover: status %d, %s", status, answer)
	}
	if code := stop(); code != 0 || errOut.String() != "" {
		t.Errorf("stop: code %d, errors %q", code, errOut)
	}
}

func TestDemoLegacy(t *testing.T) {
	t.Parallel()
	out, errOut, stop := start(t, variables(t), "demo", "legacy", "--listen", "127.0.0.1:0")
	url, ok := <-out.lines
	if !ok || !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/mcp") || strings.Contains(url, ":0/") {
		t.Fatalf("first line %q, errors %q; want the URL with its real port", url, errOut)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	status, answer, header := post(t, url, body, http.Header{"Accept": {"application/json, text/event-stream"}})
	if status != http.StatusOK || header.Get("Mcp-Session-Id") == "" || !strings.Contains(answer, `"tasks":{`) {
		t.Errorf("initialize: status %d, %s", status, answer)
	}
	if code := stop(); code != 0 || errOut.String() != "" {
		t.Errorf("stop: code %d, errors %q", code, errOut)
	}
}

func TestDemoAddress(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	addr := l.Addr().String()
	code, out, errOut := command(t, &app{}, "demo", "modern", "--listen", addr)
	if code != 2 || out != "" || !strings.HasPrefix(errOut, "taskbridge: --listen "+addr+": ") || !strings.Contains(errOut, "in use") {
		t.Errorf("an address in use: code %d, output %q, errors %q", code, out, errOut)
	}
	code, _, errOut = command(t, &app{lookupEnv: variables(t, "TASKBRIDGE_LISTEN=nonsense")}, "demo", "modern")
	if code != 2 || !strings.HasPrefix(errOut, "taskbridge: TASKBRIDGE_LISTEN=nonsense: ") {
		t.Errorf("a bad address: code %d, errors %q", code, errOut)
	}
}
