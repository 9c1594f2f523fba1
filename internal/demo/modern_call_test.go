package demo_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

// TestModernSynchronousTools calls every tool that can answer on its call, as a
// client that knows nothing of tasks.
func TestModernSynchronousTools(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tool       string
		arguments  object
		caps       object
		text       string
		structured any
		isError    any
		takes      time.Duration
	}{
		"add":                            {tool: "add", arguments: object{"a": 2, "b": 3}, text: "5", structured: object{"sum": 5.0}},
		"add is never a task":            {tool: "add", arguments: object{"a": 2, "b": 3}, caps: allCaps, text: "5", structured: object{"sum": 5.0}},
		"add of fractions":               {tool: "add", arguments: object{"a": 0.5, "b": -2}, text: "-1.5", structured: object{"sum": -1.5}},
		"add without a number":           {tool: "add", arguments: object{"a": 2}, text: "b: want a number", isError: true},
		"add of text":                    {tool: "add", arguments: object{"a": "2", "b": 3}, text: "a: want a number", isError: true},
		"add beyond all numbers":         {tool: "add", arguments: object{"a": 1.7e308, "b": 1.7e308}, text: "the sum is too large", isError: true},
		"work":                           {tool: "work", arguments: object{"ms": 1500}, text: "worked 1500 ms", takes: 1500 * time.Millisecond},
		"work by default":                {tool: "work", arguments: object{}, text: "worked 1000 ms", takes: time.Second},
		"work without arguments":         {tool: "work", text: "worked 1000 ms", takes: time.Second},
		"work of a negative time":        {tool: "work", arguments: object{"ms": -1}, text: "ms: want a whole number from 0 to 600000", isError: true},
		"work of too long a time":        {tool: "work", arguments: object{"ms": 600001}, text: "ms: want a whole number from 0 to 600000", isError: true},
		"work of half a millisecond":     {tool: "work", arguments: object{"ms": 0.5}, caps: allCaps, text: "ms: want a whole number from 0 to 600000", isError: true},
		"grind":                          {tool: "grind", arguments: object{"ms": 600000}, text: "ground 600000 ms", takes: 10 * time.Minute},
		"grind is never a task":          {tool: "grind", arguments: object{"ms": 50}, caps: allCaps, text: "ground 50 ms", takes: 50 * time.Millisecond},
		"structured":                     {tool: "structured", text: `{"n":7}`, structured: object{"n": 7.0}, takes: 200 * time.Millisecond},
		"tool_error":                     {tool: "tool_error", text: "tool says no", isError: true, takes: 200 * time.Millisecond},
		"count":                          {tool: "count", arguments: object{"steps": 4}, text: "counted to 4", takes: 400 * time.Millisecond},
		"count by default, never a task": {tool: "count", caps: allCaps, text: "counted to 3", takes: 300 * time.Millisecond},
		"count too far":                  {tool: "count", arguments: object{"steps": 1001}, text: "steps: want a whole number from 0 to 1000", isError: true},
		"announce":                       {tool: "announce", text: "announced tools"},
		"announce prompts":               {tool: "announce", arguments: object{"list": "prompts"}, text: "announced prompts"},
		"announce nothing known":         {tool: "announce", arguments: object{"list": "toys"}, text: "list: want tools, prompts or resources", isError: true},
		"locate without a site":          {tool: "locate", arguments: object{"site": nil}, text: "site: missing", isError: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModern(t, demo.Options{})
				began := time.Now()
				res := do(t, m, tool(test.tool, test.arguments, test.caps)).result()
				if took := time.Since(began); took != test.takes {
					t.Errorf("took %v, want %v", took, test.takes)
				}
				if got := text(t, res); got != test.text {
					t.Errorf("text = %q, want %q", got, test.text)
				}
				if diff := cmp.Diff(test.structured, res["structuredContent"]); diff != "" {
					t.Error(diff)
				}
				if res["isError"] != test.isError {
					t.Errorf("isError = %v", res["isError"])
				}
				ran := 1
				if test.isError == true && test.tool != "tool_error" {
					ran = 0 // refused before it ran
				}
				if got := m.Runs(test.tool); got != ran {
					t.Errorf("Runs = %d, want %d", got, ran)
				}
			})
		})
	}
}

func TestModernAddKeepsEveryDigit(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	c := tool("add", object{}, nil)
	c.body = strings.Replace(c.message(), `"arguments":{}`, `"arguments":{"a":9007199254740993,"b":90071992547409930000}`, 1)
	if raw := do(t, m, c).raw; !strings.Contains(raw, `{"sum":90080999746664670993}`) {
		t.Error(raw)
	}
}

func TestModernCallErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		do(t, m, tool("nobody", object{}, nil)).fails(200, -32602)
		do(t, m, call{method: "tools/call", params: object{"name": "add", "arguments": []int{1}}}).fails(200, -32602)
		do(t, m, call{method: "tools/call", params: object{"name": "add", "arguments": nil}}).fails(200, -32602)
		data := do(t, m, tool("fail", object{}, nil)).fails(200, -31050)
		if diff := cmp.Diff(object{"shard": 3.0}, data); diff != "" {
			t.Error(diff)
		}
		if m.Runs("fail") != 1 || m.Runs("add") != 0 || m.Runs("nobody") != 0 {
			t.Error("the wrong things ran")
		}
	})
}

func TestModernCapabilities(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	form, sampling := object{"elicitation": object{"form": object{}}}, object{"sampling": object{}}
	urlOnly := object{"elicitation": object{"url": object{}}, "extensions": object{extension: object{}}}
	for name, test := range map[string]struct {
		tool string
		caps object
		want object
	}{
		"ask of a client without elicitation":         {"ask", taskCaps, form},
		"ask of a client with URLs only":              {"ask", urlOnly, form},
		"ask of a client with nothing":                {"ask", noCaps, form},
		"ask_twice of a client without elicitation":   {"ask_twice", taskCaps, form},
		"ask_both of a client without elicitation":    {"ask_both", taskCaps, form},
		"ask_first of a client without elicitation":   {"ask_first", taskCaps, form},
		"sample of a client without sampling":         {"sample", form, sampling},
		"sample in a task, without sampling":          {"sample", taskCaps, sampling},
		"only_task of a client without the extension": {"only_task", askCaps, taskCaps},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := do(t, m, tool(test.tool, object{}, test.caps)).fails(400, -32021)
			if diff := cmp.Diff(object{"requiredCapabilities": test.want}, data); diff != "" {
				t.Error(diff)
			}
			if n := m.Runs(test.tool); n != 0 {
				t.Errorf("%s ran", test.tool)
			}
		})
	}
}

func TestModernParameterHeaders(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	encoded := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	for name, test := range map[string]struct {
		site   any
		header string // "-" for none
		fails  bool
	}{
		"plain":                            {site: "north", header: "north"},
		"padded by the transport":          {site: "north", header: " north "},
		"encoded":                          {site: "Zürich", header: encoded("Zürich")},
		"encoded without need":             {site: "north", header: encoded("north")},
		"empty":                            {site: "", header: encoded("")},
		"empty and plain":                  {site: "", header: ""},
		"a number":                         {site: 42, header: "42"},
		"a value that looks encoded":       {site: "=?base64?eA==?=", header: encoded("=?base64?eA==?=")},
		"markers in capitals are no marks": {site: "=?BASE64?eA==?=", header: "=?BASE64?eA==?="},
		"an open mark is no mark":          {site: "=?base64?eA==", header: "=?base64?eA=="},
		"missing":                          {site: "north", header: "-", fails: true},
		"another value":                    {site: "north", header: "south", fails: true},
		"another case":                     {site: "north", header: "North", fails: true},
		"not padded":                       {site: "north", header: "=?base64?bm9ydGg?=", fails: true},
		"of another alphabet":              {site: "???", header: "=?base64?Pz8_?=", fails: true},
		"a literal that looks encoded":     {site: "=?base64?eA==?=", header: "=?base64?eA==?=", fails: true},
		"a header without a value":         {site: nil, header: "north", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tool("locate", object{"site": test.site}, nil)
			c.header = map[string]string{"Mcp-Param-Site": test.header}
			a := do(t, m, c)
			if test.fails {
				a.fails(400, -32020)
				return
			}
			want := "site: want a string" // the header is right, the argument is not
			if site, ok := test.site.(string); ok {
				want = "site " + site
			}
			if got := text(t, a.result()); got != want {
				t.Errorf("text = %q, want %q", got, want)
			}
		})
	}
}

func TestModernProgressAndLogging(t *testing.T) {
	t.Parallel()
	note := func(level, text string) object {
		return object{"method": "notifications/message", "params": object{"level": level, "logger": "demo", "data": text}}
	}
	step := func(token any, n float64, text string) object {
		return object{"method": "notifications/progress", "params": object{"progressToken": token, "progress": n, "total": 2.0, "message": text}}
	}
	for name, test := range map[string]struct {
		meta   object
		accept string
		want   []object
	}{
		"nothing is asked for": {},
		"progress, a text token": {meta: object{"progressToken": "t"}, want: []object{
			step("t", 1, "step 1 of 2"), step("t", 2, "step 2 of 2"),
		}},
		"progress, the token 0": {meta: object{"progressToken": 0}, want: []object{
			step(0.0, 1, "step 1 of 2"), step(0.0, 2, "step 2 of 2"),
		}},
		"log from debug": {meta: object{prefix + "logLevel": "debug"}, want: []object{
			note("debug", "counting to 2"), note("info", "step 1"), note("info", "step 2"), note("warning", "nothing left to count"),
		}},
		"log from notice":   {meta: object{prefix + "logLevel": "notice"}, want: []object{note("warning", "nothing left to count")}},
		"log from critical": {meta: object{prefix + "logLevel": "critical"}},
		"both, in order": {meta: object{"progressToken": "t", prefix + "logLevel": "info"}, want: []object{
			step("t", 1, "step 1 of 2"), note("info", "step 1"), step("t", 2, "step 2 of 2"), note("info", "step 2"), note("warning", "nothing left to count"),
		}},
		"a client that takes no stream": {meta: object{"progressToken": "t", prefix + "logLevel": "debug"}, accept: "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := tool("count", object{"steps": 2}, nil)
				c.meta = test.meta
				if test.accept != "" {
					c.header = map[string]string{"Accept": test.accept}
				}
				a := do(t, newModern(t, demo.Options{}), c)
				if got := text(t, a.result()); got != "counted to 2" {
					t.Errorf("text = %q", got)
				}
				for i := range test.want {
					test.want[i]["jsonrpc"] = "2.0"
				}
				if diff := cmp.Diff(test.want, a.notes); diff != "" {
					t.Error(diff)
				}
				if len(test.want) > 0 && a.header.Get("X-Accel-Buffering") != "no" {
					t.Errorf("header = %v", a.header)
				}
			})
		})
	}
}

func TestModernProgressComesAsItHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := tool("count", object{"steps": 3}, nil)
		c.meta = object{"progressToken": "t"}
		s := start(t, newModern(t, demo.Options{}), c)
		for i := range 3 {
			began := time.Now()
			params, _ := s.next()["params"].(object)
			if params["progress"] != float64(i+1) || time.Since(began) != 100*time.Millisecond {
				t.Errorf("step %d: %v after %v", i, params, time.Since(began))
			}
		}
		if s.next()["result"] == nil || s.next() != nil {
			t.Error("the stream does not end with the result")
		}
	})
}

// A client that leaves cancels its call: Spec 2026-07-28 patterns/cancellation.
func TestModernDisconnect(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"work", "grind", "count"} {
		synctest.Test(t, func(t *testing.T) {
			m := newModern(t, demo.Options{})
			began := time.Now()
			s := start(t, m, tool(name, object{"ms": 600_000, "steps": 1000}, nil))
			time.Sleep(50 * time.Millisecond)
			s.hangUp()
			<-s.done
			if took := time.Since(began); took != 50*time.Millisecond {
				t.Errorf("%s went on for %v", name, took)
			}
			if msg := s.next(); msg != nil {
				t.Errorf("%s still sent %v", name, msg)
			}
			if m.Runs(name) != 1 {
				t.Errorf("Runs(%s) = %d", name, m.Runs(name))
			}
		})
	}
}

func TestModernRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newModern(t, demo.Options{})
		do(t, m, tool("add", object{"a": 1, "b": 1}, nil))
		do(t, m, tool("add", object{"a": 1, "b": 1}, nil))
		task(t, m, "work", object{"ms": 60_000})
		res := do(t, m, tool("runs", object{}, allCaps)).result()
		want := object{
			"add": 2.0, "work": 1.0, "grind": 0.0, "only_task": 0.0, "structured": 0.0, "tool_error": 0.0, "fail": 0.0, "ask": 0.0,
			"ask_twice": 0.0, "ask_both": 0.0, "ask_first": 0.0, "sample": 0.0, "count": 0.0, "locate": 0.0, "announce": 0.0,
		}
		if diff := cmp.Diff(want, res["structuredContent"]); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(text(t, res), `"add":2`) {
			t.Errorf("text = %q", text(t, res))
		}
	})
}
