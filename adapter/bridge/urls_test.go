package bridge_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	urlCaps  = wire.Value(`{"elicitation":{"url":{}}}`)
	urlNeeds = wire.Value(`{"elicitations":[{"mode":"url","elicitationId":"EL-7","url":"https://auth.example/a","message":"A"},{"mode":"url","elicitationId":"EL-8","url":"https://auth.example/b","message":"B"}]}`)
)

// wantsURLs makes the backend ask for URLs before the first n calls.
func (d *down) wantsURLs(n int, data wire.Value) {
	d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
		if call.Method == "tools/call" && d.count("tools/call") <= n {
			return "", &jsonrpc.Error{Code: -32042, Message: "visit", Data: data}
		}
		return `{"content":[]}`, nil
	}
}

func (d *down) count(method string) (n int) {
	d.session.mu.Lock()
	defer d.session.mu.Unlock()
	for _, call := range d.session.calls {
		if call.Method == method {
			n++
		}
	}
	return n
}

func (d *down) mail(retry string) port.Outcome {
	d.t.Helper()
	out, _ := d.request(d.t.Context(), "tools/call", `{"name":"mail","arguments":{}`+retry+`,`+novaMeta+`}}`, urlCaps)
	return out
}

func retry(answers, state string) string {
	return `,"inputResponses":` + answers + `,"requestState":` + string(wire.String(state))
}

func stateOf(t *testing.T, out port.Outcome) string {
	t.Helper()
	state, ok := out.Result.Get("requestState").Text()
	if !ok || state == "" {
		t.Fatalf("no state in %s %v", out.Result, out.Err)
	}
	return state
}

const bothURLs = `{"url-1":{"action":"accept"},"url-2":{"action":"accept"}}`

// TestURLs: a request that needs URLs visited is made again once the user has
// agreed to all of them, and only then (B-U10, B-U11).
func TestURLs(t *testing.T) {
	downgrade(t, func(d *down) {
		d.wantsURLs(1, urlNeeds)
		out := d.mail("")
		state := stateOf(d.t, out)
		if got := out.Result.Get("inputRequests"); got != `{"url-1":{"method":"elicitation/create","params":{"mode":"url","url":"https://auth.example/a","message":"A"}},"url-2":{"method":"elicitation/create","params":{"mode":"url","url":"https://auth.example/b","message":"B"}}}` {
			d.t.Errorf("B-U10 asked %s", got)
		}
		if strings.Contains(string(out.Result), "EL-7") {
			d.t.Errorf("B-U10 the id was told: %s", out.Result)
		}
		again := d.mail(retry(`{"url-1":{"action":"accept"},"other":{"action":"accept"}}`, state))
		if stateOf(d.t, again) == state || d.count("tools/call") != 1 {
			d.t.Errorf("B-U11 a key is missing: %s after %d calls", again.Result, d.count("tools/call"))
		}
		bad := d.mail(retry(`{"url-1":{"action":"accept"},"url-2":{}}`, state))
		if bad.Err == nil || !strings.Contains(port.RPCError(bad.Err).Message, "params.inputResponses.url-2.action") {
			d.t.Errorf("B-U11 malformed: %+v", bad)
		}
		for range 2 {
			if out := d.mail(retry(bothURLs, state)); out.Result.Get("resultType") != `"complete"` || d.count("tools/call") != 2 {
				d.t.Errorf("B-U11 outcome %s %v after %d calls", out.Result, out.Err, d.count("tools/call"))
			}
		}
		if out := d.mail(retry(bothURLs, stateOf(d.t, again))); out.Result.Get("resultType") != `"complete"` || d.count("tools/call") != 2 {
			d.t.Errorf("B-U11 the round that was asked again: %s %v after %d calls", out.Result, out.Err, d.count("tools/call"))
		}
		time.Sleep(time.Minute)
		if out := d.mail(retry(bothURLs, state)); !errors.Is(out.Err, park.ErrState) || d.count("tools/call") != 2 {
			d.t.Errorf("B-U11 spent: %+v after %d calls", out, d.count("tools/call"))
		}
	})
}

// TestURLsRefused: a user who will not go there ends the request (B-U11).
func TestURLsRefused(t *testing.T) {
	for _, action := range []string{"decline", "cancel"} {
		t.Run(action, func(t *testing.T) {
			downgrade(t, func(d *down) {
				d.wantsURLs(1, urlNeeds)
				state := stateOf(d.t, d.mail(""))
				out := d.mail(retry(`{"url-1":{"action":"accept"},"url-2":{"action":"`+action+`"}}`, state))
				if out.Result.Get("isError") != "true" || out.Result.Get("resultType") != `"complete"` || d.count("tools/call") != 1 {
					d.t.Errorf("B-U11 outcome %s %v", out.Result, out.Err)
				}
			})
		})
	}
}

// TestURLsForEver: a backend cannot send a user to URLs without end (B-U11).
func TestURLsForEver(t *testing.T) {
	downgrade(t, func(d *down) {
		d.wantsURLs(1000, urlNeeds)
		out := d.mail("")
		for range 9 {
			out = d.mail(retry(bothURLs, stateOf(d.t, out)))
		}
		if out = d.mail(retry(bothURLs, stateOf(d.t, out))); !port.IsCode(out.Err, jsonrpc.CodeInternal) || d.count("tools/call") != 11 {
			d.t.Errorf("B-U11 outcome %+v after %d calls", out, d.count("tools/call"))
		}
	})
}

// TestURLsImpossible: what a client cannot be asked, and what is no list of URLs
// (B-U12).
func TestURLsImpossible(t *testing.T) {
	downgrade(t, func(d *down) {
		d.wantsURLs(1000, urlNeeds)
		out, _ := d.request(d.t.Context(), "tools/call", `{"name":"mail",`+novaMeta+`}}`, `{"elicitation":{}}`)
		var status *port.StatusError
		if !errors.As(out.Err, &status) || status.Status != 400 || status.Err.Code != -32021 || status.Err.Data != `{"requiredCapabilities":{"elicitation":{"url":{}}}}` {
			d.t.Errorf("B-U12 undeclared: %+v", out)
		}
		for _, data := range []wire.Value{"", `{}`, `{"elicitations":[]}`, `{"elicitations":[{"mode":"form"}]}`, wire.Value(`{"elicitations":[{"mode":"url","elicitationId":"e","url":"u","message":"` + strings.Repeat("m", 20000) + `"}]}`)} {
			d.wantsURLs(1000, data)
			if out := d.mail(""); !port.IsCode(out.Err, jsonrpc.CodeInternal) {
				d.t.Errorf("B-U12 malformed %.40s: %+v", data, out)
			}
		}
		d.session.do = func(context.Context, port.SessionCall) (wire.Value, error) {
			return "", &jsonrpc.Error{Code: -32042, Message: "visit", Data: urlNeeds}
		}
		if out, _ := d.request(d.t.Context(), "prompts/list", `{`+novaMeta+`}}`, urlCaps); !port.IsCode(out.Err, jsonrpc.CodeInternal) {
			d.t.Errorf("B-U12 another method: %+v", out)
		}
	})
}

// TestURLsWait: a backend that announces the ends of visits is waited for, though
// not for ever (B-U11).
func TestURLsWait(t *testing.T) {
	downgrade(t, func(d *down) {
		announce := func(id string) {
			d.cross.Hear(bridge.Heard{Backend: "basalt", Session: d.session, Message: jsonrpc.Message{
				Kind: jsonrpc.KindNotification, Method: "notifications/elicitation/complete", Params: wire.Value(`{"elicitationId":"` + id + `"}`),
			}})
		}
		took := func() time.Duration {
			d.session.calls = nil
			d.wantsURLs(1, urlNeeds)
			state, start := stateOf(d.t, d.mail("")), time.Now()
			d.mail(retry(bothURLs, state))
			return time.Since(start)
		}
		if got := took(); got != 0 {
			d.t.Errorf("a backend that announces nothing was waited for: %v", got)
		}
		announce("EL-7")
		time.AfterFunc(3*time.Second, func() { announce("EL-8") })
		if got := took(); got != 3*time.Second {
			d.t.Errorf("waited %v, want as long as the visit", got)
		}
		if got := took(); got != 0 {
			d.t.Errorf("waited %v for visits that are over", got)
		}
		urlOther := wire.Value(strings.ReplaceAll(string(urlNeeds), "EL-8", "EL-9"))
		d.session.calls = nil
		d.wantsURLs(1, urlOther)
		state, start := stateOf(d.t, d.mail("")), time.Now()
		if d.mail(retry(bothURLs, state)); time.Since(start) != 30*time.Second {
			d.t.Errorf("waited %v, want 30s at most", time.Since(start))
		}
	})
}

// roundsOf are rounds of a store of their own.
func roundsOf(t *testing.T, keys *seal.Keys) *park.Rounds {
	t.Helper()
	store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	rounds, err := park.NewRounds(store, env.System(), keys, "process", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return rounds
}
