package modern_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func listenCall() port.Call {
	return port.Call{Method: "subscriptions/listen", Params: `{"notifications":{"toolsListChanged":true},"_meta":{}}`}
}

func acknowledged(params string) string {
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":` + params + `}`
}

const (
	toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	updated      = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a"}}`
)

// opened streams the parts and then does what end says.
func opened(end script, parts ...string) script {
	return func(c net.Conn, n int, id string) bool {
		begin(c)
		for _, part := range parts {
			chunk(c, part)
		}
		return end(c, n, id)
	}
}

func untilClosed(c net.Conn, _ int, _ string) bool { return !waitClosed(c) }

func TestListenAcknowledged(t *testing.T) {
	for name, c := range map[string]struct{ ack, want string }{
		"§3.5 with the request's id": {
			`{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`, `{"toolsListChanged":true}`,
		},
		"with an id of the server's own, and no notifications": {`{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub-1"}}`, ""},
		"with nothing":     {`{"notifications":{}}`, "{}"},
		"without any name": {`{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, opened(untilClosed, ":\n\n", event(acknowledged(c.ack))), nil, func(t *testing.T, f *fake) {
				sub, err := f.client.Listen(t.Context(), listenCall())
				if err != nil {
					t.Fatal(err)
				}
				defer sub.Close()
				if got := sub.Acknowledged(); got != wire.Value(c.ack) || got.Get("notifications") != wire.Value(c.want) {
					t.Errorf("acknowledged %s, want %s", got, c.ack)
				}
				if got := f.requests()[0].header.Get("Mcp-Method"); got != "subscriptions/listen" {
					t.Errorf("Mcp-Method %q", got)
				}
			})
		})
	}
}

func TestListenEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end script
		is  error
	}{
		"§3.5 gracefully, with the result": {func(c net.Conn, _ int, id string) bool {
			chunk(c, event(result(id, `{"resultType":"complete"}`))+event(toolsChanged))
			return finish(c)
		}, io.EOF},
		"§3.5 without a result": {func(c net.Conn, _ int, _ string) bool { return finish(c) }, modern.ErrNoResponse},
		"with a cut":            {func(net.Conn, int, string) bool { return false }, io.ErrUnexpectedEOF},
		"with another's result": {func(c net.Conn, _ int, id string) bool {
			return chunk(c, event(result(`"`+id+`"`, "{}")))
		}, modern.ErrInvalid},
		"with an event that is too large": {func(c net.Conn, _ int, _ string) bool {
			return chunk(c, event(`"`+strings.Repeat("x", 5000)+`"`))
		}, modern.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			tune := func(o *modern.Options) { o.Limits.Result = 4000 }
			bubble(t, opened(c.end, event(acknowledged("{}")), event(toolsChanged)), tune, func(t *testing.T, f *fake) {
				sub, err := f.client.Listen(t.Context(), listenCall())
				if err != nil {
					t.Fatal(err)
				}
				if msg, err := sub.Next(); err != nil || msg.Method != "notifications/tools/list_changed" {
					t.Fatalf("first %v, %v", msg, err)
				}
				for range 2 {
					_, err = sub.Next()
					if !errors.Is(err, c.is) {
						t.Errorf("ended with %v, want %v", err, c.is)
					}
					ended, _ := sub.(interface{ Result() wire.Value })
					if want := map[bool]wire.Value{true: `{"resultType":"complete"}`}[c.is == io.EOF]; ended.Result() != want { //nolint:errorlint // exactly this
						t.Errorf("result %s, want %s", ended.Result(), want)
					}
					if graceful := err == io.EOF; graceful != (c.is == io.EOF) { //nolint:errorlint // exactly this
						t.Errorf("%v reads as a graceful end: %v", err, graceful)
					}
				}
				sub.Close()
			})
		})
	}
	t.Run("with an error", func(t *testing.T) {
		end := func(c net.Conn, _ int, id string) bool {
			chunk(c, event(rpcError(id, -32603)))
			return finish(c)
		}
		bubble(t, opened(end, event(acknowledged("{}"))), nil, func(t *testing.T, f *fake) {
			sub, err := f.client.Listen(t.Context(), listenCall())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sub.Next(); !port.IsCode(err, -32603) {
				t.Errorf("ended with %v", err)
			}
		})
	})
}

func TestListenNotAcknowledged(t *testing.T) {
	for name, c := range map[string]struct {
		script script
		is     error
		code   int64
		after  time.Duration
	}{
		"silence":            {untilClosed, modern.ErrNotAcknowledged, 0, 5 * time.Second},
		"a silent stream":    {opened(untilClosed), modern.ErrNotAcknowledged, 0, 5 * time.Second},
		"only keep-alives":   {keepAlives, modern.ErrNotAcknowledged, 0, 5 * time.Second},
		"an immediate end":   {func(c net.Conn, _ int, id string) bool { return stream(c, event(result(id, "{}"))) }, modern.ErrNotAcknowledged, 0, 0},
		"a document":         {answer, modern.ErrNotAcknowledged, 0, 0},
		"an error":           {func(c net.Conn, _ int, id string) bool { return rpc(c, 400, rpcError(id, -32021)) }, nil, -32021, 0},
		"an error at 200":    {func(c net.Conn, _ int, id string) bool { return rpc(c, 200, rpcError(id, -32021)) }, nil, -32021, 0},
		"an error in stream": {func(c net.Conn, _ int, id string) bool { return stream(c, event(rpcError(id, -32601))) }, nil, -32601, 0},
		"a cut":              {cut(func(net.Conn, string) {}), io.EOF, 0, 0},
		"a cut in the stream": {
			cut(func(c net.Conn, _ string) { begin(c); chunk(c, event(toolsChanged)) }), io.ErrUnexpectedEOF, 0, 0,
		},
		"too much before": {opened(untilClosed, strings.Repeat(event(toolsChanged), 65)), modern.ErrNotAcknowledged, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.script, nil, func(t *testing.T, f *fake) {
				start := time.Now()
				_, err := f.client.Listen(t.Context(), listenCall())
				if c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("error %v, want %v", err, c.is)
				}
				if c.code != 0 && !port.IsCode(err, c.code) {
					t.Errorf("error %v, want code %d", err, c.code)
				}
				if c.is == modern.ErrNotAcknowledged { //nolint:errorlint // a case of the table
					if got := port.RPCError(err).Message; got != "backend did not acknowledge the subscription" {
						t.Errorf("a client is told %q", got)
					}
				}
				if got := time.Since(start); got != c.after {
					t.Errorf("gave up after %v, want %v", got, c.after)
				}
				f.wantRequests(1)
			})
		})
	}
}

func keepAlives(c net.Conn, _ int, _ string) bool {
	begin(c)
	for chunk(c, ": still here\n\n") {
		time.Sleep(time.Second)
	}
	return false
}

func TestListenGoesOn(t *testing.T) {
	t.Run("beyond every deadline and its context", func(t *testing.T) {
		end := func(c net.Conn, _ int, _ string) bool {
			time.Sleep(48 * time.Hour)
			chunk(c, event(updated))
			return !waitClosed(c)
		}
		bubble(t, opened(end, event(acknowledged("{}"))), nil, func(t *testing.T, f *fake) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			sub, err := f.client.Listen(ctx, listenCall())
			if err != nil {
				t.Fatal(err)
			}
			defer sub.Close()
			cancel()
			start := time.Now()
			msg, err := sub.Next()
			if err != nil || msg.Params.Get("uri") != `"a"` {
				t.Errorf("got %v, %v", msg, err)
			}
			if got := time.Since(start); got != 48*time.Hour {
				t.Errorf("it came after %v", got)
			}
		})
	})
	t.Run("with what overtook the acknowledgement", func(t *testing.T) {
		s := opened(untilClosed, event(toolsChanged), event(updated)+event(acknowledged("{}")), event(acknowledged("{}")), event(toolsChanged))
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			sub, err := f.client.Listen(t.Context(), listenCall())
			if err != nil {
				t.Fatal(err)
			}
			defer sub.Close()
			var got []string
			for range 4 {
				msg, err := sub.Next()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, strings.TrimPrefix(msg.Method, "notifications/"))
			}
			want := []string{"tools/list_changed", "resources/updated", "subscriptions/acknowledged", "tools/list_changed"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("until its context ends, before the acknowledgement", func(t *testing.T) {
		bubble(t, opened(untilClosed), nil, func(t *testing.T, f *fake) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := f.client.Listen(ctx, listenCall()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the deadline", err)
			}
		})
	})
}

func TestListenClose(t *testing.T) {
	t.Run("ends a Next that waits, and the exchange", func(t *testing.T) {
		bubble(t, nil, nil, func(t *testing.T, f *fake) {
			closed := make(chan bool, 1)
			end := func(c net.Conn, _ int, _ string) bool {
				closed <- waitClosed(c)
				return false
			}
			f.follow(opened(end, event(acknowledged("{}"))))
			sub, err := f.client.Listen(t.Context(), listenCall())
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				_, err := sub.Next()
				ended <- err
			}()
			synctest.Wait()
			sub.Close()
			sub.Close()
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Errorf("Next ended with %v, want net.ErrClosed", err)
			}
			if !<-closed {
				t.Error("the server did not see the end")
			}
		})
	})
	t.Run("without any Next leaves nothing behind", func(t *testing.T) {
		bubble(t, opened(untilClosed, event(acknowledged("{}")), event(toolsChanged)), nil, func(t *testing.T, f *fake) {
			sub, err := f.client.Listen(t.Context(), listenCall())
			if err != nil {
				t.Fatal(err)
			}
			sub.Close()
			if _, err := sub.Next(); err == nil {
				// What had arrived may be delivered; the end must follow.
				if msg, err := sub.Next(); err == nil {
					t.Errorf("a closed subscription goes on with %v", msg.Kind == jsonrpc.KindNotification)
				}
			}
		})
	})
}
