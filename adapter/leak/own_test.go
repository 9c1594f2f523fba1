package leak_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/leak"
)

// owns are the legs between two peers of one era, with the filter of the same leg
// where eras cross.
var owns = map[string]struct {
	own     func(*slog.Logger) *leak.Filter
	crossed string
}{
	"legacy own": {leak.LegacyOwn, "legacy"},
	"modern own": {leak.ModernOwn, "modern"},
}

// TestOwnPlaces: between peers of one era the reserved keys of the other era go,
// and members that are only called like one of its stay, byte for byte (S-3).
func TestOwnPlaces(t *testing.T) {
	t.Parallel()
	for leg, own := range owns {
		reserved := leak.Rules(leg)
		for _, p := range leak.Places(own.crossed) {
			t.Run(fmt.Sprintf("S-3 %s: %s of %s", leg, strings.Join(p.Path, "."), p.Method), func(t *testing.T) {
				t.Parallel()
				token := `"x"`
				if p.Holding != "" {
					token = fmt.Sprintf(`{%q:"x"}`, p.Holding)
				}
				in := message(p, token)
				f := own.own(quiet)
				got := string(f.Apply(p.Method, []byte(in)))
				name := p.Path[len(p.Path)-1]
				goes := strings.HasPrefix(name, "io.modelcontextprotocol/") && slices.Contains(p.Path, "_meta")
				switch want := strings.Replace(in, fmt.Sprintf("%q:%s,", name, token), "", 1); {
				case !goes && got != in:
					t.Errorf("Apply(%s)\n got %s\nwant it as it is", in, got)
				case goes && (got != want || f.Hits()[p.Rule] != 1 || !slices.Contains(reserved, p.Rule)):
					t.Errorf("Apply(%s)\n got %s\nwant %s, counted once: %v", in, got, want, f.Hits())
				}
			})
		}
	}
}

// TestOwnMethodsAndCodes: methods and error codes of the other era are stopped
// between peers of one era as everywhere, and those of their own are not (S-3).
func TestOwnMethodsAndCodes(t *testing.T) {
	t.Parallel()
	methods := map[string][]string{
		"legacy own": {"initialize", "ping", "logging/setLevel", "tasks/result", "tasks/list", "elicitation/create", "notifications/tasks/status"},
		"modern own": {"server/discover", "subscriptions/listen", "tasks/update", "notifications/tasks", "notifications/subscriptions/acknowledged"},
	}
	codes := map[string][]int{"legacy own": {-32002, -32042}, "modern own": {-32020, -32021, -32022}}
	other := map[string]string{"legacy own": "modern own", "modern own": "legacy own"}
	for leg, own := range owns {
		for _, method := range methods[leg] {
			in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, method)
			if got := string(own.own(quiet).Apply("", []byte(in))); got != in {
				t.Errorf("S-3 %s: %s became %q", leg, method, got)
			}
			if got := owns[other[leg]].own(quiet).Apply("", []byte(in)); got != nil {
				t.Errorf("S-3 %s: %s passed as %s", other[leg], method, got)
			}
		}
		for _, code := range codes[leg] {
			in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"m","data":{"a":1.0}}}`, code)
			if got := string(own.own(quiet).Apply("tools/call", []byte(in))); got != in {
				t.Errorf("S-3 %s: %d became %s", leg, code, got)
			}
			want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}`
			if got := string(owns[other[leg]].own(quiet).Apply("tools/call", []byte(in))); got != want {
				t.Errorf("S-3 %s: %d became %s", other[leg], code, got)
			}
		}
	}
}
