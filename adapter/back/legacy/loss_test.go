package legacy_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
)

func TestSessionLost(t *testing.T) {
	const own = "own"
	for _, c := range []struct {
		name   string
		method string
		status int
		// id and code are those of the JSON-RPC error, if id is not empty.
		id         string
		code       int
		lost, told bool
	}{
		{"404", "tools/call", 404, "", 0, true, true},
		{"404 and words", "tools/call", 404, "null", -32001, true, true},
		{"404 and words about the request", "tools/call", 404, own, -32001, true, true},
		{"404 for a method that does not exist", "vendor/do", 404, own, -32601, false, false},
		{"404 and a made-up id", "tools/call", 404, `"server-error"`, -32600, true, true},
		{"400 not initialized", "tools/call", 400, "null", -32000, true, true},
		{"400 with the last code of servers", "tools/list", 400, "null", -32019, true, true},
		{"400 with another code", "tools/list", 400, "null", -32020, false, false},
		{"400 with a code of JSON-RPC", "tools/list", 400, "null", -32600, false, false},
		{"400 without words", "tools/list", 400, "", 0, false, false},
		{"400 about a request that changes nothing", "tools/list", 400, own, -32000, true, true},
		{"400 about a call, which may have run", "tools/call", 400, own, -32000, false, false},
		{"200 with such a code", "tools/call", 200, "null", -32000, false, false},
		{"401 with such a code", "tools/list", 401, "null", -32000, false, false},
		{"410", "tools/list", 410, "", 0, false, false},
	} {
		answer := func(x *call) {
			id := c.id
			switch id {
			case "":
				x.document(c.status, "text/plain", "payload")
				return
			case own:
				id = string(x.msg.ID)
			}
			x.rpc(c.status, rpcError(id, c.code))
		}
		t.Run("B-U4 "+c.name, func(t *testing.T) {
			bubble(t, script{c.method: answer}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				_, err := s.Do(t.Context(), port.SessionCall{Method: c.method})
				if errors.Is(err, port.ErrSessionLost) != c.told || isLost(s) != c.lost || err == nil {
					t.Errorf("error %v, lost %v", err, isLost(s))
				}
				if c.id != "" && !port.IsCode(err, int64(c.code)) {
					t.Errorf("error %v does not say what the server said", err)
				}
				f.want(c.method, 1)
				if !c.lost {
					return
				}
				if _, err := s.Do(t.Context(), list()); !errors.Is(err, port.ErrSessionLost) {
					t.Errorf("then error %v", err)
				}
				s.Close(t.Context())
				f.want("DELETE", 0)
			})
		})
		t.Run("B-U4 without a session id: "+c.name, func(t *testing.T) {
			s := script{c.method: answer, "initialize": func(x *call) { x.result(hello("2025-11-25")) }}
			bubble(t, s, nil, func(t *testing.T, f *fake) {
				s := f.open()
				_, err := s.Do(t.Context(), port.SessionCall{Method: c.method})
				if err == nil || errors.Is(err, port.ErrSessionLost) || isLost(s) {
					t.Errorf("error %v, lost %v", err, isLost(s))
				}
			})
		})
	}
}

func TestMessagesWithoutResponse(t *testing.T) {
	type outcome struct{ notify, respond string }
	for name, c := range map[string]struct {
		answer func(x *call)
		want   outcome
	}{
		"202":                {func(x *call) { x.w.WriteHeader(202) }, outcome{}},
		"200":                {func(x *call) { x.w.WriteHeader(200) }, outcome{}},
		"204":                {func(x *call) { x.w.WriteHeader(204) }, outcome{}},
		"200 and words":      {func(x *call) { x.rpc(200, "{}") }, outcome{}},
		"200 and a stream":   {func(x *call) { x.stream(event("{}")); x.hold() }, outcome{}},
		"400 text/plain":     {func(x *call) { x.document(400, "text/plain", "no such id") }, outcome{notify: "400"}},
		"400 and words":      {func(x *call) { x.rpc(400, rpcError("null", -32600)) }, outcome{"-32600", "-32600"}},
		"500":                {func(x *call) { x.w.WriteHeader(500) }, outcome{"500", "500"}},
		"a redirect":         {func(x *call) { x.w.Header().Set("Location", "/"); x.w.WriteHeader(302) }, outcome{"302", "302"}},
		"G-6 a broken line":  {(*call).cut, outcome{"sent", "sent"}},
		"G-8 silence":        {(*call).hold, outcome{"sent", "sent"}},
		"B-U4 404":           {func(x *call) { x.w.WriteHeader(404) }, outcome{"lost", "lost"}},
		"B-U4 400 not known": {func(x *call) { x.rpc(400, rpcError("null", -32000)) }, outcome{"lost", "lost"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, script{"response": c.answer, "notifications/x": c.answer}, nil, func(t *testing.T, f *fake) {
				for i, s := range []port.Session{f.open(), f.open()} {
					var err error
					want := c.want.notify
					if i == 0 {
						err = s.Notify(t.Context(), "notifications/x", `{"a":1}`)
					} else {
						want = c.want.respond
						err = s.Respond(t.Context(), []byte(response(`"q"`, `{"action":"cancel"}`)))
					}
					if got := describe(err); got != want || isLost(s) != (want == "lost") {
						t.Errorf("%d: error %v, lost %v, want %q", i, err, isLost(s), want)
					}
				}
				f.want("notifications/x", 1)
				f.want("response", 1)
				if got := f.got("notifications/x")[0].body; got != `{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}` {
					t.Errorf("sent %s", got)
				}
				if got := f.got("response")[0].body; got != response(`"q"`, `{"action":"cancel"}`) {
					t.Errorf("sent %s", got)
				}
			})
		})
	}
}

func describe(err error) string {
	var failed *port.UpstreamError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, port.ErrSessionLost):
		return "lost"
	case errors.As(err, &failed) && failed.Status != 0:
		return fmt.Sprint(failed.Status)
	case errors.As(err, &failed) && failed.Sent:
		return "sent"
	case failed == nil:
		return fmt.Sprint(port.RPCError(err).Code)
	default:
		return "unsent"
	}
}

func TestClose(t *testing.T) {
	for name, answer := range map[string]func(x *call){
		"200": func(x *call) { x.w.WriteHeader(200) },
		"405": func(x *call) { x.w.WriteHeader(405) },
		"404": func(x *call) { x.document(404, "text/html", "<p>payload</p>") },
		"cut": (*call).cut,
	} {
		t.Run("B-U5 the server answers "+name, func(t *testing.T) {
			bubble(t, script{http.MethodDelete: answer}, nil, func(t *testing.T, f *fake) {
				s := f.open()
				s.Close(t.Context())
				s.Close(t.Context())
				f.want("DELETE", 1)
				got := f.got("DELETE")[0].header
				if got.Get("Mcp-Session-Id") != "session-1" || got.Get("Mcp-Protocol-Version") != "2025-11-25" || got.Get("Authorization") != "Bearer s3cret" {
					t.Errorf("headers %v", got)
				}
				for _, err := range []error{
					second(s.Do(t.Context(), tool())), s.Notify(t.Context(), "notifications/x", ""), s.Respond(t.Context(), []byte(response("1", "{}"))),
				} {
					if !errors.Is(err, port.ErrSessionLost) {
						t.Errorf("error %v", err)
					}
				}
				f.want("tools/call", 0)
			})
		})
	}
}
