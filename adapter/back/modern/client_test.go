package modern_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestRequestHeaders(t *testing.T) {
	common := http.Header{
		"Content-Type":         {"application/json"},
		"Accept":               {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"},
		"User-Agent":           {"taskbridge"},
	}
	for name, c := range map[string]struct {
		call port.Call
		want http.Header
	}{
		"A-U2 a list has no name": {list(), http.Header{"Mcp-Method": {"tools/list"}}},
		"A-U2 a tool's name":      {tool(), http.Header{"Mcp-Method": {"tools/call"}, "Mcp-Name": {"dig"}}},
		"A-U2 a resource's URI": {
			port.Call{Method: "resources/read", Params: `{"uri":"file:///a b"}`},
			http.Header{"Mcp-Method": {"resources/read"}, "Mcp-Name": {"file:///a b"}},
		},
		"A-U2 a task's id": {
			port.Call{Method: "tasks/get", Params: `{"taskId":"t-1"}`},
			http.Header{"Mcp-Method": {"tasks/get"}, "Mcp-Name": {"t-1"}},
		},
		"§3.8 a name beyond ASCII is encoded": {
			port.Call{Method: "tools/call", Params: `{"name":"b\u00e9"}`},
			http.Header{"Mcp-Method": {"tools/call"}, "Mcp-Name": {"=?base64?YsOp?="}},
		},
		"the call's own headers": {
			port.Call{Method: "tools/call", Params: `{"name":"dig"}`, Authorization: "Bearer s3cret", Headers: []port.Header{
				{Name: "mcp-param-Depth", Value: "7"}, {Name: "X-Key", Value: "k"},
			}},
			http.Header{
				"Mcp-Method": {"tools/call"}, "Mcp-Name": {"dig"}, "Authorization": {"Bearer s3cret"},
				"Mcp-Param-Depth": {"7"}, "X-Key": {"k"},
			},
		},
		"headers of another revision or of the client itself are not for the call": {
			port.Call{Method: "tools/list", Headers: []port.Header{
				{Name: "MCP-Session-Id", Value: "s"},
				{Name: "last-event-id", Value: "e"},
				{Name: "Idempotency-Key", Value: "k"},
				{Name: "mcp-method", Value: "x"},
				{Name: "Mcp-Name", Value: "x"},
				{Name: "MCP-Protocol-Version", Value: "2025-11-25"},
				{Name: "accept", Value: "x"},
				{Name: "Content-Length", Value: "0"},
				{Name: "User-Agent", Value: "x"},
			}},
			http.Header{"Mcp-Method": {"tools/list"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, answer, nil, func(t *testing.T, f *fake) {
				f.mustDo(c.call)
				got := f.requests()[0]
				want := c.want.Clone()
				for name, values := range common {
					want[name] = values
				}
				want.Set("Content-Length", strconv.Itoa(len(got.body)))
				if diff := cmp.Diff(want, got.header); diff != "" {
					t.Errorf("headers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRequestBody(t *testing.T) {
	t.Run("A-U3 params go out as they are, under ids of our own", func(t *testing.T) {
		bubble(t, answer, nil, func(t *testing.T, f *fake) {
			f.mustDo(tool())
			f.mustDo(list())
			want := []string{
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig","arguments":{"secret":"s3cret"},"_meta":{}}}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{}}}`,
			}
			for i, got := range f.requests() {
				if got.body != want[i] {
					t.Errorf("body %s, want %s", got.body, want[i])
				}
			}
		})
	})
	t.Run("the filter has the last word", func(t *testing.T) {
		filter := func(method string, msg []byte) []byte {
			if method != "tools/call" {
				return msg
			}
			return []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
		}
		bubble(t, answer, func(o *modern.Options) { o.Filter = filter }, func(t *testing.T, f *fake) {
			f.mustDo(tool())
			if got := f.requests()[0].body; got != `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}` {
				t.Errorf("body %s", got)
			}
		})
	})
	t.Run("G-9 ids are unique among concurrent requests", func(t *testing.T) {
		bubble(t, answer, nil, func(t *testing.T, f *fake) {
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() { f.mustDo(list()) })
			}
			wg.Wait()
			ids := map[jsonrpc.ID]bool{}
			for _, got := range f.requests() {
				ids[got.msg.ID] = true
			}
			if len(ids) != 50 {
				t.Errorf("%d different ids, want 50", len(ids))
			}
		})
	})
	t.Run("§3.8 a name that no header can carry is refused before sending", func(t *testing.T) {
		bubble(t, answer, nil, func(t *testing.T, f *fake) {
			_, err := f.client.Do(t.Context(), port.Call{Method: "tools/call", Params: `{"name":"\ud800"}`})
			if got := port.RPCError(err); got.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("error %v, want -32602", err)
			}
			f.wantRequests(0)
		})
	})
}

func TestAnswers(t *testing.T) {
	const want = `{"big":9007199254740993.10,"uni":"\u00e9"}`
	for name, s := range map[string]script{
		"A-U5 a document": func(c net.Conn, _ int, id string) bool {
			return rpc(c, 200, result(id, want))
		},
		"a content type with parameters": func(c net.Conn, _ int, id string) bool {
			return document(c, 200, "application/json; charset=utf-8", result(id, want))
		},
		"no content type": func(c net.Conn, _ int, id string) bool {
			return document(c, 200, "", result(id, want))
		},
		"white space around it": func(c net.Conn, _ int, id string) bool {
			return rpc(c, 200, "\r\n "+result(id, want)+" \n")
		},
		"A-U2 headers of another revision are ignored": func(c net.Conn, _ int, id string) bool {
			return document(c, 200, "application/json", result(id, want), "Mcp-Session-Id: s", "Mcp-Name: t")
		},
		"A-U5 a stream": func(c net.Conn, _ int, id string) bool {
			return stream(c, event(result(id, want)))
		},
		"a stream with a broken content type": func(c net.Conn, _ int, id string) bool {
			return document(c, 200, "Text/Event-Stream; charset", event(result(id, want)))
		},
		"A-U2 priming events, ids, retries and comments are ignored": func(c net.Conn, _ int, id string) bool {
			return stream(c, "id: 1\ndata:\n\n", ": hi\n\n", "retry: 10\n\n", "id: 2\ndata: "+result(id, want)+"\n\n")
		},
		"other types of event are ignored": func(c net.Conn, _ int, id string) bool {
			return stream(c, "event: ping\ndata: {}\n\n", event(result(id, want)))
		},
		"A-U4 requests of the server are ignored": func(c net.Conn, _ int, id string) bool {
			return stream(c, event(`{"jsonrpc":"2.0","id":`+id+`,"method":"roots/list"}`), event(result(id, want)))
		},
		"unreadable messages are ignored": func(c net.Conn, _ int, id string) bool {
			return stream(c, event("hello"), event(`{"jsonrpc":"1.0"}`), event(`[]`), event(result(id, want)))
		},
		"what follows the response is ignored": func(c net.Conn, _ int, id string) bool {
			return stream(c, event(result(id, want))+event(rpcError(id, -32603)), event(progress(9)))
		},
		"a stream in tiny pieces": func(c net.Conn, _ int, id string) bool {
			begin(c)
			for _, b := range event(result(id, want)) {
				chunk(c, string(b))
			}
			return finish(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, s, nil, func(t *testing.T, f *fake) {
				for range 2 {
					if got := f.mustDo(tool()); got != want {
						t.Errorf("result %s, want %s", got, want)
					}
				}
				f.wantRequests(2)
			})
		})
	}
}

func TestNotifications(t *testing.T) {
	s := func(c net.Conn, _ int, id string) bool {
		return stream(c, event(progress(1)), event(`{"jsonrpc":"2.0","id":3,"method":"ping"}`), event(progress(2)),
			event(result(id, `{}`)), event(progress(3)))
	}
	t.Run("A-U5 arrive in order before the response", func(t *testing.T) {
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			call := tool()
			var got []wire.Value
			call.OnMessage = func(msg jsonrpc.Message) { got = append(got, msg.Params.Get("progress")) }
			f.mustDo(call)
			if diff := cmp.Diff([]wire.Value{"1", "2"}, got); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("are dropped when nobody listens", func(t *testing.T) {
		bubble(t, s, nil, func(_ *testing.T, f *fake) { f.mustDo(tool()) })
	})
}

func TestConnectionsAreReused(t *testing.T) {
	for name, s := range map[string]script{
		"after a document": answer,
		"after a stream": func(c net.Conn, _ int, id string) bool {
			return stream(c, event(result(id, `{}`)))
		},
		"after a JSON-RPC error": func(c net.Conn, _ int, id string) bool {
			return rpc(c, 400, rpcError(id, -32602))
		},
		"after an HTTP failure": func(c net.Conn, _ int, _ string) bool {
			return document(c, 500, "text/html", "<p>payload</p>")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var conns sync.Map
			counted := func(c net.Conn, n int, id string) bool {
				conns.Store(c, true)
				return s(c, n, id)
			}
			bubble(t, counted, nil, func(t *testing.T, f *fake) {
				for range 5 {
					_, _ = f.client.Do(t.Context(), tool())
					settle()
				}
				n := 0
				conns.Range(func(any, any) bool { n++; return true })
				if n != 1 {
					t.Errorf("five requests in a row took %d connections", n)
				}
			})
		})
	}
}

func TestServerErrors(t *testing.T) {
	for _, status := range []int{200, 202, 400, 401, 403, 404, 406, 500, 503} {
		for _, id := range []string{"own", "null", `"server-error"`} {
			if status < 300 && id == `"server-error"` {
				continue
			}
			t.Run(fmt.Sprintf("§1.6 a JSON-RPC error with HTTP %d and id %s", status, id), func(t *testing.T) {
				s := func(c net.Conn, _ int, own string) bool {
					if id != "own" {
						own = id
					}
					return rpc(c, status, rpcError(own, -32602))
				}
				bubble(t, s, nil, func(t *testing.T, f *fake) {
					_, err := f.client.Do(t.Context(), tool())
					want := &jsonrpc.Error{Code: -32602, Message: "because", Data: `{"k":1}`}
					var got *jsonrpc.Error
					if !errors.As(err, &got) {
						t.Fatalf("error %v, want a JSON-RPC error", err)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("error (-want +got):\n%s", diff)
					}
					var upstream *port.UpstreamError
					kept := status == 401 || status == 403 || status >= 500
					if errors.As(err, &upstream) != kept || kept && upstream.Status != status {
						t.Errorf("error %#v; want the status kept: %v", err, kept)
					}
				})
			})
		}
	}
}
