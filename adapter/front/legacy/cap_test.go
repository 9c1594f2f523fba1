package legacy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
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
		wantError(t, subscribe(1000), http.StatusOK, `{"jsonrpc":"2.0","id":1000,"error":{"code":-32602,"message":"Invalid params: params.uri: want at most 1000 subscriptions in a session"}}`)
		if a := subscribe(7); !strings.Contains(a.body, `"result"`) {
			t.Errorf("one it has: %s", a.body)
		}
		if n := r.crossing.calls("resources/subscribe"); n != 1001 {
			t.Errorf("%d requests reached the crossing, want 1001", n)
		}
	})
}
