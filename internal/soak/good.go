package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// good is a client that keeps to the protocol, comes back when it is told to, and
// wants its own answers.
type good struct {
	t       *tally
	http    *http.Client
	url     string
	header  http.Header
	calls   int
	session bool // legacy: it needs one
}

// errShed says that an answer was not to be had in time for the load.
var errShed = errors.New("asked to come back until its patience was at its end")

// request makes one request, again when it is asked to, and returns its result.
func (g *good) request(ctx context.Context, method, name, params string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	g.calls++
	header := g.header.Clone()
	if !g.session {
		header.Set("Mcp-Method", method)
		if name != "" {
			header.Set("Mcp-Name", name)
		}
		params = `"_meta":` + modernMeta + params
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, g.calls, method, params)
	for {
		a, err := post(ctx, g.http, g.url, header, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		if after, shed := a.shed(); shed {
			g.t.wasShed()
			select {
			case <-time.After(min(after, patience/4)):
				continue
			case <-ctx.Done():
				return nil, errShed
			}
		}
		if id := a.header.Get("Mcp-Session-Id"); id != "" {
			g.header.Set("Mcp-Session-Id", id)
		}
		if a.status != http.StatusOK || a.msg.Result == nil {
			return nil, fmt.Errorf("%s, retry after %q: %.200s", a.kind(), a.header.Get("Retry-After"), a.raw)
		}
		return a.msg.Result, nil
	}
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"soak","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

const initialize = `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"soak","version":"1"}`

// legacyClient is one of 2025-11-25 in front of the modern server.
func legacyClient(t *tally, from net.IP, to string) *good {
	return &good{t: t, http: client(from), url: "http://" + to + "/legacy/modern", header: http.Header{}, session: true}
}

// modernClient is one of 2026-07-28 in front of the legacy server. Every other has a
// credential.
func modernClient(t *tally, from net.IP, to string, n int) *good {
	g := &good{t: t, http: client(from), url: "http://" + to + "/modern/legacy", header: http.Header{"Mcp-Protocol-Version": {"2026-07-28"}}}
	if n%2 == 0 {
		g.header.Set("Authorization", fmt.Sprint("Bearer good-", n))
	}
	return g
}

// serve calls and makes tasks until ctx ends.
func (g *good) serve(ctx context.Context) {
	route := "modern client"
	if g.session {
		route = "legacy client"
		if _, err := g.request(ctx, "initialize", "", initialize); err != nil {
			g.lost(ctx, route+": initialize", err)
			return
		}
	}
	for n := 0; ctx.Err() == nil; n++ {
		g.timed(ctx, route+": call", func() error { return g.add(ctx, n) })
		if n%5 == 0 {
			g.timed(ctx, route+": task", func() error { return g.work(ctx, 100+n%50) })
		}
		select {
		case <-time.After(150 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// newcomers are clients that come, make a call in a session of their own, and go.
func newcomers(ctx context.Context, t *tally, to string) {
	for n := 0; ctx.Err() == nil; n++ {
		g := legacyClient(t, address(netGood, goodClients+n%100), to)
		g.timed(ctx, "newcomer: session and call", func() error {
			if _, err := g.request(ctx, "initialize", "", initialize); err != nil {
				return err
			}
			if a, err := post(ctx, g.http, g.url, g.header, strings.NewReader(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil || a.status != http.StatusAccepted {
				return fmt.Errorf("initialized: %v %w", a, err)
			}
			return g.add(ctx, n)
		})
		g.leave(ctx)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// leave ends the client's session.
func (g *good) leave(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, g.url, http.NoBody)
	if err != nil {
		return
	}
	req.Header = g.header
	if resp, err := g.http.Do(req); err == nil {
		_ = resp.Body.Close()
	}
	g.http.CloseIdleConnections()
}

// timed notes how long something took, and what went wrong.
func (g *good) timed(ctx context.Context, what string, do func() error) {
	begun := time.Now()
	if err := do(); err != nil {
		g.lost(ctx, what, err)
		return
	}
	g.t.took(what, time.Since(begun))
}

// lost notes an answer that a good client did not get, unless the end of the load
// came between.
func (g *good) lost(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		g.t.fault("%s: %v", what, err)
	}
}

// comma joins params to the metadata that a modern request begins with.
func (g *good) comma(params string) string {
	if g.session {
		return params
	}
	return "," + params
}

// add has two numbers added that no other call adds.
func (g *good) add(ctx context.Context, n int) error {
	result, err := g.request(ctx, "tools/call", "add", g.comma(fmt.Sprintf(`"name":"add","arguments":{"a":9007199254740993,"b":%d}`, n)))
	if err != nil {
		return err
	}
	type sum struct {
		Structured struct {
			Sum json.Number `json:"sum"`
		} `json:"structuredContent"`
	}
	var got struct {
		sum

		TaskID string `json:"taskId"`
		Result sum    `json:"result"`
	}
	if err := json.Unmarshal(result, &got); err != nil {
		return err
	}
	if got.TaskID != "" { // a call that takes long becomes a task
		if result, err = g.follow(ctx, got.TaskID); err != nil {
			return err
		}
		if err := json.Unmarshal(result, &got); err != nil {
			return err
		}
		got.sum = got.Result
	}
	if want := fmt.Sprint(9007199254740993 + n); got.Structured.Sum.String() != want {
		return fmt.Errorf("the sum is %s, want %s", got.Structured.Sum, want)
	}
	return nil
}

// work makes a task that takes so many milliseconds, polls it to its end and reads
// its result.
func (g *good) work(ctx context.Context, ms int) error {
	params := fmt.Sprintf(`"name":"work","arguments":{"ms":%d}`, ms)
	if g.session {
		params += `,"task":{"ttl":60000}`
	}
	made, err := g.request(ctx, "tools/call", "work", g.comma(params))
	if err != nil {
		return err
	}
	var task struct {
		TaskID string
		Task   struct{ TaskID string }
	}
	if err := json.Unmarshal(made, &task); err != nil {
		return err
	}
	id := task.TaskID + task.Task.TaskID
	if id == "" {
		return fmt.Errorf("no task: %.200s", made)
	}
	end, err := g.follow(ctx, id)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("worked %d ms", ms); !strings.Contains(string(end), want) {
		return fmt.Errorf("the task ended with %.200s, want %q", end, want)
	}
	return nil
}

// follow polls a task until it is over, and returns what holds its result.
func (g *good) follow(ctx context.Context, id string) (json.RawMessage, error) {
	params := g.comma(fmt.Sprintf(`"taskId":%q`, id))
	for deadline := time.Now().Add(patience); ; {
		got, err := g.request(ctx, "tasks/get", id, params)
		if err != nil {
			return nil, err
		}
		var task struct{ Status string }
		if err := json.Unmarshal(got, &task); err != nil {
			return nil, err
		}
		switch {
		case task.Status == "completed" && g.session:
			return g.request(ctx, "tasks/result", id, params)
		case task.Status == "completed":
			return got, nil
		case task.Status != "working":
			return nil, fmt.Errorf("the task is %q", task.Status)
		case time.Now().After(deadline):
			return nil, errors.New("the task does not end")
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
