package legacy_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// TestIdentityIsBounded: what a client says about itself is read with every
// request of its session, so it may not fill a whole message (G-8).
func TestIdentityIsBounded(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Limits.Body = 1 << 20 }, func(t *testing.T, r *rig) {
		initialize := func(vendor int) answer {
			return r.post("", `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
				`"capabilities":{"experimental":{"x":"`+strings.Repeat("x", vendor)+`"}},"clientInfo":{"name":"a","version":"1"}}}`)
		}
		if a := initialize(60 << 10); a.status != http.StatusOK || a.header.Get("Mcp-Session-Id") == "" {
			t.Errorf("60 KiB: HTTP %d", a.status)
		}
		a := initialize(64 << 10)
		wantError(t, a, http.StatusOK, `{"jsonrpc":"2.0","id":"i","error":{"code":-32602,"message":"Invalid params: params: want clientInfo and capabilities of at most 65536 bytes together"}}`)
		if a.header.Get("Mcp-Session-Id") != "" {
			t.Error("a session was begun")
		}
	})
}

// TestSubscriptionsAreBounded: a session keeps a thousand subscriptions, and
// what it has it may ask for again.
func TestSubscriptionsAreBounded(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		subscribe := func(n int) answer {
			return r.post(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"ore://%d"}}`, n, n))
		}
		for n := range 1000 {
			if a := subscribe(n); !strings.Contains(a.body, `"result"`) {
				t.Fatalf("subscription %d: %s", n, a.body)
			}
		}
		wantError(t, subscribe(1000), http.StatusOK, `{"jsonrpc":"2.0","id":1000,"error":{"code":-32602,"message":"Invalid params: params.uri: want at most 1000 subscriptions in a session, of 262144 bytes together"}}`)
		if a := subscribe(7); !strings.Contains(a.body, `"result"`) {
			t.Errorf("one it has: %s", a.body)
		}
		if n := r.crossing.calls("resources/subscribe"); n != 1001 {
			t.Errorf("%d requests reached the crossing, want 1001", n)
		}
	})
}

// TestSubscribedURIsAreBounded: long URIs do not make the session large, of which every
// request reads all.
func TestSubscribedURIsAreBounded(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Limits.Body = 1 << 20 }, func(t *testing.T, r *rig) {
		id := r.open()
		subscribe := func(n, size int) string {
			return r.post(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"%d:%s"}}`, n, n, strings.Repeat("x", size))).body
		}
		for n := range 2 {
			if got := subscribe(n, 100<<10); !strings.Contains(got, `"result"`) {
				t.Errorf("subscription %d: %s", n, got)
			}
		}
		if got := subscribe(2, 100<<10); !strings.Contains(got, "262144 bytes together") {
			t.Errorf("one too long: %.200s", got)
		}
		if got := subscribe(3, 10<<10); !strings.Contains(got, `"result"`) {
			t.Errorf("one that fits: %.200s", got)
		}
	})
}

// TestRequestsOfAll: requests in flight are bounded over all sessions, and those of one
// address, with those that go on without their client. A client is told to come back.
func TestRequestsOfAll(t *testing.T) {
	for name, tune := range map[string]func(*legacy.Options){
		"in all":         func(o *legacy.Options) { o.Limits.Requests = 3 },
		"of one address": func(o *legacy.Options) { o.Limits.RequestsPerAddress = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, tune, func(t *testing.T, r *rig) {
				ids := []string{r.open(), r.open(), r.open(), r.openVersion("2025-03-26")}
				release := make(chan struct{})
				r.crossing.on("tools/call", func(ctx context.Context, _ *port.Exchange) port.Outcome {
					select {
					case <-release:
					case <-ctx.Done():
					}
					return port.Outcome{Result: "{}"}
				})
				lost := r.stream(http.MethodPost, ids[0], call("1", "tools/call"))
				lost.want(keepAlive)
				lost.hangUp()
				answers := []<-chan answer{r.background(ids[1], call("1", "tools/call")), r.background(ids[1], call("2", "tools/call"))}
				synctest.Wait()
				busy := refusal("3", "-32603", "too many requests at once; try again later")
				a := r.post(ids[2], call("3", "tools/list"))
				wantError(t, a, http.StatusServiceUnavailable, busy)
				if a.header.Get("Retry-After") != "1" {
					t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
				}
				wantError(t, r.post(ids[3], "["+call("3", "tools/list")+"]"), http.StatusOK, "["+busy+"]")
				wantError(t, r.post(ids[2], call("4", "ping")), http.StatusOK, `{"jsonrpc":"2.0","id":4,"result":{}}`)
				close(release)
				for _, a := range answers {
					<-a
				}
				synctest.Wait()
				wantError(t, r.post(ids[2], call("1", "tools/list")), http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"method":"tools/list"}}`)
			})
		})
	}
}

// TestSessionsOfAPrincipal: one credential has half of all sessions at most, from
// whatever addresses.
func TestSessionsOfAPrincipal(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Limits.Sessions = 4 }, func(t *testing.T, r *rig) {
		first := r.open("Authorization: Bearer a")
		r.open("Authorization: Bearer a")
		if a := r.post("", initialize, "Authorization: Bearer a"); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
			t.Errorf("one too many: %d", a.status)
		}
		r.open("Authorization: Bearer b")
		r.do(http.MethodDelete, first, "", "Authorization: Bearer a")
		r.open("Authorization: Bearer a")
	})
}

// TestAddressBehindAProxy: limits count the client that a trusted proxy names.
func TestAddressBehindAProxy(t *testing.T) {
	for name, trusted := range map[string]bool{"trusted": true, "not trusted": false} {
		t.Run(name, func(t *testing.T) {
			tune := func(o *legacy.Options) {
				o.Limits.SessionsPerAddress = 1
				if trusted {
					o.Proxies = edge.Proxies{netip.MustParsePrefix("127.0.0.0/8")}
				}
			}
			bubble(t, tune, func(t *testing.T, r *rig) {
				r.open("X-Forwarded-For: 192.0.2.1")
				want := http.StatusServiceUnavailable
				if trusted {
					want = http.StatusOK
				}
				if a := r.post("", initialize, "X-Forwarded-For: 192.0.2.2"); a.status != want {
					t.Errorf("another address: %d, want %d", a.status, want)
				}
				if a := r.post("", initialize, "X-Forwarded-For: 192.0.2.1"); a.status != http.StatusServiceUnavailable {
					t.Errorf("the same address: %d", a.status)
				}
			})
		})
	}
}
