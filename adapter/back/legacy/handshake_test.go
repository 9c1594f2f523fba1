package legacy_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestHandshake(t *testing.T) {
	t.Run("B-U2 §3.8 what is sent, and with which headers", func(t *testing.T) {
		bubble(t, nil, nil, func(t *testing.T, f *fake) {
			s := f.open()
			do(t, s, tool())
			if err := s.Notify(t.Context(), "notifications/cancelled", `{"requestId":1}`); err != nil {
				t.Error(err)
			}
			common := http.Header{"User-Agent": {"taskbridge"}, "Authorization": {"Bearer s3cret"}}
			post := with(common, "Accept", "application/json, text/event-stream", "Content-Type", "application/json")
			session := []string{"Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", "session-1"}
			want := map[string]http.Header{
				"initialize":                post,
				"notifications/initialized": with(post, session...),
				"tools/call":                with(post, session...),
				"notifications/cancelled":   with(post, session...),
				"GET":                       with(with(common, "Accept", "text/event-stream"), session...),
			}
			for name, header := range want {
				got := f.got(name)
				if len(got) != 1 {
					t.Fatalf("%d times %s", len(got), name)
				}
				got[0].header.Del("Content-Length")
				if diff := cmp.Diff(header, got[0].header); diff != "" {
					t.Errorf("headers of %s (-want +got):\n%s", name, diff)
				}
			}
			const first = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"2"}}}`
			if got := f.got("initialize")[0].body; got != first {
				t.Errorf("initialize %s", got)
			}
			if got := f.got("notifications/initialized")[0].body; got != `{"jsonrpc":"2.0","method":"notifications/initialized"}` {
				t.Errorf("initialized %s", got)
			}
			if s.Ticket() != (port.Ticket{ID: "session-1", Version: "2025-11-25"}) || s.About() != wire.Value(hello("2025-11-25")) {
				t.Errorf("ticket %v, about %s", s.Ticket(), s.About())
			}
		})
	})
	for _, version := range []string{"2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run("B-U2 the server chooses "+version, func(t *testing.T) {
			bubble(t, script{"initialize": func(x *call) { x.result(hello(version)) }}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				do(t, s, list())
				got := f.got("tools/list")[0].header
				if got.Get("Mcp-Protocol-Version") != version || got.Values("Mcp-Session-Id") != nil {
					t.Errorf("headers %v", got)
				}
				s.Close(t.Context())
				f.want("DELETE", 0) // no session there to end
			})
		})
	}
	t.Run("B-U2 a client without capabilities", func(t *testing.T) {
		bubble(t, nil, nil, func(t *testing.T, f *fake) {
			s, err := f.client.Open(t.Context(), port.Hello{ClientInfo: `{"name":"c","version":"2"}`})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(t.Context())
			got := f.got("initialize")[0]
			if got.msg.Params.Get("capabilities") != "{}" || got.header.Get("Authorization") != "" {
				t.Errorf("params %s, headers %v", got.msg.Params, got.header)
			}
		})
	})
	t.Run("messages before the end of the handshake come after it", func(t *testing.T) {
		s := script{"initialize": func(x *call) {
			x.w.Header().Set("Mcp-Session-Id", "session-1")
			x.stream(event(note("a")), event(request("7", "ping")), event(request("8", "roots/list")), event(response(string(x.msg.ID), hello("2025-11-25"))))
		}}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			f.open()
			wantMethods(t, f.heard(), "a", "roots/list")
			f.want("response", 1)
		})
	})
}

func with(header http.Header, pairs ...string) http.Header {
	header = header.Clone()
	for i := 0; i < len(pairs); i += 2 {
		header.Set(pairs[i], pairs[i+1])
	}
	return header
}

func TestHandshakeFails(t *testing.T) {
	start := func(x *call) { x.w.Header().Set("Mcp-Session-Id", "session-1") }
	for name, c := range map[string]struct {
		script script
		check  func(t *testing.T, err error)
		// deletes is how often the session that was begun is ended.
		deletes int
	}{
		"B-U2 an unknown revision": {
			script{"initialize": func(x *call) { start(x); x.result(hello("2031-01-01")) }}, is(legacy.ErrVersion), 1,
		},
		"B-U2 the other era's revision": {
			script{"initialize": func(x *call) { start(x); x.result(hello("2026-07-28")) }}, is(legacy.ErrVersion), 1,
		},
		"B-U2 no revision": {
			script{"initialize": func(x *call) { start(x); x.result(`{"protocolVersion":20251125}`) }}, is(legacy.ErrVersion), 1,
		},
		"a session id that no header can carry back": {
			script{"initialize": func(x *call) {
				x.w.Header().Set("Mcp-Session-Id", "session 1")
				x.result(hello("2025-11-25"))
			}}, is(legacy.ErrSessionID), 0,
		},
		"the server's own error": {
			script{"initialize": func(x *call) { x.rpc(400, rpcError("null", -32000)) }},
			func(t *testing.T, err error) {
				if !port.IsCode(err, -32000) || errors.Is(err, port.ErrSessionLost) {
					t.Errorf("error %v", err)
				}
			}, 0,
		},
		"a failure of HTTP": {
			script{"initialize": func(x *call) { x.document(404, "text/html", "<p>payload</p>") }}, status(404), 0,
		},
		"G-6 a connection that breaks": {
			script{"initialize": func(x *call) { x.cut() }}, status(0), 0,
		},
		"notifications/initialized is refused": {
			script{"notifications/initialized": func(x *call) { x.document(500, "", "payload") }}, status(500), 1,
		},
		"the session is lost at once": {
			script{"notifications/initialized": func(x *call) { x.document(404, "", "payload") }}, status(0), 0,
		},
		"G-8 silence": {script{"initialize": (*call).hold}, is(legacy.ErrHandshake), 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.script, nil, func(t *testing.T, f *fake) {
				begun := time.Now()
				s, err := f.client.Open(t.Context(), f.hello())
				if s != nil || err == nil {
					t.Fatalf("opened %v, error %v", s, err)
				}
				c.check(t, err)
				f.want("initialize", 1)
				f.want("DELETE", c.deletes)
				if took := time.Since(begun); took > 30*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func is(want error) func(t *testing.T, err error) {
	return func(t *testing.T, err error) {
		t.Helper()
		_ = upstream(t, err)
		if !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}

func status(want int) func(t *testing.T, err error) {
	return func(t *testing.T, err error) {
		t.Helper()
		if got := upstream(t, err); got.Status != want {
			t.Errorf("status %d, want %d", got.Status, want)
		}
	}
}

func TestResume(t *testing.T) {
	bubble(t, nil, nil, func(t *testing.T, f *fake) {
		ticket := port.Ticket{ID: "session-9", Version: "2025-06-18"}
		one := f.client.Resume(t.Context(), ticket, f.hello())
		two := f.client.Resume(t.Context(), ticket, f.hello())
		do(t, one, list())
		do(t, two, list())
		f.want("initialize", 0)
		got := f.got("tools/list")
		for _, s := range got {
			if s.header.Get("Mcp-Session-Id") != "session-9" || s.header.Get("Mcp-Protocol-Version") != "2025-06-18" {
				t.Errorf("headers %v", s.header)
			}
			if n, ok := s.msg.ID.Int(); !ok || n <= 0 || n >= 1<<52 {
				t.Errorf("G-9 id %s", s.msg.ID)
			}
		}
		if got[0].msg.ID == got[1].msg.ID {
			t.Errorf("G-9 both processes use id %s", got[0].msg.ID)
		}
		if one.Ticket() != ticket || one.About().Present() {
			t.Errorf("ticket %v, about %q", one.Ticket(), one.About())
		}
		one.Close(t.Context())
		two.Close(t.Context())
		f.want("DELETE", 2)
	})
}

// TestHandshakeParams: what a client of the same era has said goes on as it is (S-1).
func TestHandshakeParams(t *testing.T) {
	bubble(t, nil, nil, func(t *testing.T, f *fake) {
		const params = `{ "protocolVersion":"2025-06-18","capabilities":{"com.acme/x":1.0},"clientInfo":{"name":"o","version":"1"}}`
		s, err := f.client.Open(t.Context(), port.Hello{ClientInfo: `{"name":"c","version":"2"}`, Capabilities: `{}`, Params: params})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(t.Context())
		if got := f.got("initialize")[0].msg.Params; got != params {
			t.Errorf("params %s", got)
		}
	})
}

// TestEnd: a session that somebody else had is ended without a word more than that.
func TestEnd(t *testing.T) {
	bubble(t, nil, nil, func(t *testing.T, f *fake) {
		f.client.End(t.Context(), port.Ticket{ID: "session-9", Version: "2025-06-18"}, port.Hello{Authorization: "Bearer s3cret"})
		got := f.got("DELETE")
		if len(got) != 1 || got[0].header.Get("Mcp-Session-Id") != "session-9" || got[0].header.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("got %v", got)
		}
		f.want("GET", 0)
		f.client.End(t.Context(), port.Ticket{Version: "2025-06-18"}, port.Hello{})
		f.want("DELETE", 1) // a session without an id needs no end
	})
}

// TestEarlyBounded: what a server says before the session is open is kept, as long as it
// is little.
func TestEarlyBounded(t *testing.T) {
	early := func(name string, size int) string {
		return event(`{"jsonrpc":"2.0","method":"` + name + `","params":{"pad":"` + strings.Repeat("x", size) + `"}}`)
	}
	bubble(t, script{"initialize": func(x *call) {
		x.stream(early("a", 600<<10), early("b", 600<<10), early("c", 1), event(response(string(x.msg.ID), hello("2025-11-25"))))
	}}, nil, func(t *testing.T, f *fake) {
		f.open()
		if got := f.heard(); !slices.Equal(got, []string{"a", "c"}) {
			t.Errorf("heard %q", got)
		}
	})
}
