package modern_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// TestOwnEra: what comes from a backend of this era is filtered as between its peers,
// message by message and answer by answer, and nothing else is (S-3).
func TestOwnEra(t *testing.T) {
	mark := func(as string) port.Filter {
		return func(_ string, msg []byte) []byte { return bytes.ReplaceAll(msg, []byte("MARK"), []byte(as)) }
	}
	tune := func(o *modern.Options) { o.Filter, o.OwnEra = mark("crossed"), mark("own") }
	for _, own := range []bool{false, true} {
		name := map[bool]string{false: "crossed", true: "own"}[own]
		t.Run("S-3 "+name, func(t *testing.T) {
			bubble(t, tune, func(t *testing.T, r *rig) {
				r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
					x.OwnEra = own
					if err := x.Stream.Send([]byte(`{"jsonrpc":"2.0","method":"MARK"}`)); err != nil {
						t.Error(err)
					}
					return port.Outcome{Result: `{"n":"MARK"}`}
				})
				r.stream(call("1")).want(data(`{"jsonrpc":"2.0","method":"`+name+`"}`), data(result("1", `{"n":"`+name+`"}`)), "EOF")
				r.crossing.on("tools/call", func(_ context.Context, x *port.Exchange) port.Outcome {
					x.OwnEra = own
					return port.Fail(&port.StatusError{Status: http.StatusNotFound, Err: jsonrpc.NewError(-32601, "MARK")})
				})
				if a := r.do(call("1")); a.status != http.StatusNotFound || !strings.Contains(a.body, `"`+name+`"`) {
					t.Errorf("answer %d %s", a.status, a.body)
				}
			})
		})
	}
}
