package bridge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// methods counts the calls of a method.
func (b *back) methods(name string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, call := range b.calls {
		if call.Method == name {
			n++
		}
	}
	return n
}

// TestEndlessList: a list that never ends does not hold a call, and is not read
// again with the next one (G-8, §3.8).
func TestEndlessList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		time.Sleep(5 * time.Minute) // what the rig has listed is old then
		r.back.do = func(n int, call port.Call) (wire.Value, error) {
			if call.Method == "tools/list" {
				return wire.Value(fmt.Sprintf(`{"resultType":"complete","tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"%d"}`, n, n)), nil
			}
			return `{"resultType":"complete","content":[]}`, nil
		}
		for range 2 {
			if out := r.request(t, "tools/call", `{"name":"unheard"}`); out.Err != nil {
				t.Fatal(out.Err)
			}
		}
		if lists, calls := r.back.methods("tools/list"), r.back.methods("tools/call"); lists != 100 || calls != 2 {
			t.Errorf("G-8 %d pages and %d calls; want 100 and 2", lists, calls)
		}
		if out := r.request(t, "tools/call", `{"name":"t100"}`); out.Err != nil || r.back.methods("tools/list") != 100 {
			t.Errorf("§3.8 outcome %v, %d pages; want none more for a tool of the last page", out, r.back.methods("tools/list"))
		}
	})
}

// TestListOfTwoReadings: only pages that follow each other are a complete list,
// and a change in between begins it anew (§3.8).
func TestListOfTwoReadings(t *testing.T) {
	t.Parallel()
	page := func(next string) wire.Value {
		if next == "" {
			return `{"resultType":"complete","tools":[]}`
		}
		return wire.Value(`{"resultType":"complete","tools":[],"nextCursor":"` + next + `"}`)
	}
	for _, tt := range []struct {
		name    string
		read    func(t *testing.T, r *rig, list func(params wire.Value, next string))
		relists bool
	}{
		{"§3.8 the last page alone", func(_ *testing.T, _ *rig, list func(wire.Value, string)) {
			list(`{"cursor":"b"}`, "")
		}, true},
		{"§3.8 a page is missing", func(_ *testing.T, _ *rig, list func(wire.Value, string)) {
			list(`{}`, "a")
			list(`{"cursor":"b"}`, "")
		}, true},
		{"§3.8 all pages", func(_ *testing.T, _ *rig, list func(wire.Value, string)) {
			list(`{}`, "a")
			list(`{"cursor":"a"}`, "b")
			list(`{"cursor":"b"}`, "")
		}, false},
		{"§3.8 a change in between", func(t *testing.T, r *rig, list func(wire.Value, string)) {
			list(`{}`, "a")
			r.changeTools(t)
			list(`{"cursor":"a"}`, "")
		}, true},
		{"§3.8 a change afterwards", func(t *testing.T, r *rig, list func(wire.Value, string)) {
			list(`{}`, "")
			r.changeTools(t)
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				time.Sleep(5 * time.Minute)
				tt.read(t, r, func(params wire.Value, next string) {
					r.back.do = func(int, port.Call) (wire.Value, error) { return page(next), nil }
					if out := r.request(t, "tools/list", params); out.Err != nil {
						t.Fatal(out.Err)
					}
				})
				r.back.calls = nil
				r.back.do = func(_ int, call port.Call) (wire.Value, error) {
					if call.Method == "tools/list" {
						return page(""), nil
					}
					return `{"resultType":"complete","content":[]}`, nil
				}
				if out := r.request(t, "tools/call", `{"name":"unheard"}`); out.Err != nil {
					t.Fatal(out.Err)
				}
				if n := r.back.methods("tools/list"); (n > 0) != tt.relists {
					t.Errorf("%d pages were read; want any: %v", n, tt.relists)
				}
			})
		})
	}
}

// TestLongFactsAreNotKept: a tool whose name, or a cursor that, is longer than
// anything useful is not remembered; its calls are made all the same (G-8).
func TestLongFactsAreNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		time.Sleep(5 * time.Minute)
		long := strings.Repeat("x", 16<<10)
		schema := `{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"}}}`
		r.listed(t, wire.Value(`{"resultType":"complete","tools":[{"name":"`+long+`y","inputSchema":`+schema+`},{"name":"`+long+`","inputSchema":{"type":"object"}},{"name":"b","inputSchema":`+schema+`}]}`))
		r.back.do = func(int, port.Call) (wire.Value, error) { return `{"resultType":"complete","content":[]}`, nil }
		for name, mirrored := range map[string]int{long + "y": 0, "b": 1} {
			r.back.calls = nil
			out := r.request(t, "tools/call", wire.Value(`{"name":"`+name+`","arguments":{"s":"v"}}`))
			if out.Err != nil || len(r.back.calls) != 1 || len(r.back.calls[0].Headers) != mirrored {
				t.Errorf("G-8 %d letters: %v, calls %.200v; want one with %d headers", len(name), out.Err, r.back.calls, mirrored)
			}
		}
		time.Sleep(5 * time.Minute)
		r.back.do = func(_ int, call port.Call) (wire.Value, error) {
			if call.Method == "tools/list" && !call.Params.Get("cursor").Present() {
				return wire.Value(`{"resultType":"complete","tools":[],"nextCursor":"` + long + `"}`), nil
			}
			return `{"resultType":"complete","tools":[],"content":[]}`, nil
		}
		r.back.calls = nil
		for n := range 2 { // a list whose cursor is not kept is not known to be complete
			if out := r.request(t, "tools/call", `{"name":"c"}`); out.Err != nil || r.back.methods("tools/list") != 2*(n+1) {
				t.Errorf("G-8 outcome %v, %d pages; want two for each call", out.Err, r.back.methods("tools/list"))
			}
		}
	})
}

// TestListHolds: a list holds for as long as the shortest of its pages, from the
// first one on, and for a day at most (§3.8).
func TestListHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		ttls  []string // of the pages
		pause time.Duration
		holds time.Duration
	}{
		{"§3.8 the first page is the shortest", []string{"600000", "3600000"}, 0, 10 * time.Minute},
		{"§3.8 the last page is the shortest", []string{"3600000", "600000"}, 0, 10 * time.Minute},
		{"§3.8 from the first page on", []string{"600000", "600000"}, 4 * time.Minute, 6 * time.Minute},
		{"§3.8 five minutes at least", []string{"-1"}, 0, 5 * time.Minute},
		{"§3.8 what is no number", []string{`"x"`}, 0, 5 * time.Minute},
		{"§3.8 a day at most", []string{"9223372036855"}, 0, 24 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				time.Sleep(5 * time.Minute)
				for i, ttl := range tt.ttls {
					params, next := wire.Value("{}"), ""
					if i > 0 {
						time.Sleep(tt.pause)
						params = wire.Value(fmt.Sprintf(`{"cursor":"%d"}`, i))
					}
					if i+1 < len(tt.ttls) {
						next = fmt.Sprintf(`,"nextCursor":"%d"`, i+1)
					}
					r.back.do = func(int, port.Call) (wire.Value, error) {
						return wire.Value(`{"resultType":"complete","tools":[],"ttlMs":` + ttl + next + `}`), nil
					}
					if out := r.request(t, "tools/list", params); out.Err != nil {
						t.Fatal(out.Err)
					}
				}
				r.back.calls = nil
				r.back.do = func(int, port.Call) (wire.Value, error) {
					return `{"resultType":"complete","tools":[],"content":[]}`, nil
				}
				for _, at := range []struct {
					wait  time.Duration
					lists int
				}{{tt.holds - time.Millisecond, 0}, {time.Millisecond, 1}} {
					time.Sleep(at.wait)
					if out := r.request(t, "tools/call", `{"name":"unheard"}`); out.Err != nil || r.back.methods("tools/list") != at.lists {
						t.Errorf("outcome %v, %d lists; want %d", out.Err, r.back.methods("tools/list"), at.lists)
					}
				}
			})
		})
	}
}

// TestNoToolsToList: a backend without the capability, and one that does not say
// what it is, are called at once (§3.8).
func TestNoToolsToList(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		discover error
	}{{"§3.8 no tools", nil}, {"§3.8 nothing is known", errors.New("away")}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.capabilities, r.discoverErr = `{"prompts":{}}`, tt.discover
				time.Sleep(5 * time.Minute)
				r.back.do = func(int, port.Call) (wire.Value, error) { return `{"resultType":"complete","content":[]}`, nil }
				out := r.request(t, "tools/call", `{"name":"unheard"}`)
				if out.Err != nil || r.back.methods("tools/list") != 0 {
					t.Errorf("outcome %v after %d pages", out, r.back.methods("tools/list"))
				}
			})
		})
	}
}
