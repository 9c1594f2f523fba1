package mapping_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/golden"
	"github.com/taskbridge/taskbridge/internal/golden/goldentest"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// init adds the suites of what is not about tasks.
func init() {
	for _, dir := range []string{"tools-list", "tools-call", "prompts", "resources", "completion"} {
		suites = append(suites,
			coreSuite(dir, "down-*", "modern.result", "legacy.result", coreDownResult),
			coreSuite(dir, "up-*", "legacy.result", "modern.result", coreUpResult),
		)
	}
	suites = append(suites,
		coreSuite("resources", "error-down-*", "modern.error", "legacy.error", coreDownReadError),
		coreSuite("resources", "error-up-*", "legacy.error", "modern.error", coreUpReadError),
		coreSuite("tools-call", "headers-*", "arguments", "headers", coreHeaders),
		coreSuite("initialize", "down-*", "modern.result", "legacy.result", coreInitialize),
		coreSuite("initialize", "up-*", "legacy.result", "modern.result", coreDiscover),
		coreSuite("initialize", "client-up-*", "legacy.capabilities", "modern.capabilities", coreClientUp),
		coreSuite("initialize", "client-down-*", "modern.capabilities", "legacy.capabilities", coreClientDown),
		coreSuite("meta", "up-*", "legacy.params", "modern.params", coreUpParams),
		coreSuite("meta", "down-*", "modern.params", "legacy.params", coreDownParams),
		coreSuite("logging", "down-*", "modern.params", "legacy.params", coreDownLog),
		coreSuite("logging", "up-*", "legacy.params", "modern.params", coreUpLog),
		coreSuite("progress", "down-*", "modern.params", "legacy.params", coreDownProgress),
		coreSuite("progress", "up-*", "legacy.params", "modern.params", coreUpProgress),
		coreSuite("subscriptions", "listen-*", "filter", "modern.params", coreListen),
		coreSuite("subscriptions", "ack-*", "filter", "modern.params", coreAcknowledged),
		coreSuite("subscriptions", "down-*", "modern.params", "legacy.params", coreDownNotification),
		coreSuite("subscriptions", "up-*", "legacy.params", "modern.params", coreUpNotification),
	)
}

// coreOptions are the arguments of a translation beside its message.
type coreOptions struct {
	Version        string
	Tasks          bool
	Wrapped        bool
	RelatedTask    string
	FallbackName   string
	CanListen      bool
	HostTasks      bool
	Questions      bool
	URI            string
	LogLevel       string
	ServerInfo     json.RawMessage
	ClientInfo     json.RawMessage
	Capabilities   json.RawMessage
	ProgressToken  json.RawMessage
	InputResponses json.RawMessage
	RequestState   json.RawMessage
	SubscriptionID json.RawMessage
	Schema         json.RawMessage
}

// coreCase is one case while it runs.
type coreCase struct {
	goldenCase
	o coreOptions
}

func coreSuite(dir, glob, in, out string, run func(*coreCase)) goldentest.Suite {
	return goldentest.Suite{
		Dir:  dir,
		Glob: glob + golden.Ext,
		Schema: golden.Schema{
			Inputs:  []string{"method", "options", in},
			Outputs: []string{out, "error", "facts"},
		},
		Func: func(t *testing.T, c *goldentest.Case) {
			t.Parallel()
			g := &coreCase{goldenCase: goldenCase{T: t, c: c, in: wire.Value(c.Section(in)), out: out, method: string(c.Section("method"))}}
			if _, err := wire.Check([]byte(g.in)); err != nil {
				t.Fatalf("section %s: %v", in, err)
			}
			if text, ok := c.Optional("options"); ok {
				decoder := json.NewDecoder(bytes.NewReader(text))
				decoder.DisallowUnknownFields()
				if err := decoder.Decode(&g.o); err != nil {
					t.Fatalf("section options: %v", err)
				}
			}
			run(g)
		},
	}
}

func (g *coreCase) resultOptions() mapping.ResultOptions {
	return mapping.ResultOptions{Version: g.o.Version, Tasks: g.o.Tasks, Wrapped: g.o.Wrapped, RelatedTask: g.o.RelatedTask}
}

func (g *coreCase) facts(facts any) {
	text, err := json.Marshal(facts)
	if err != nil {
		g.Fatal(err)
	}
	g.c.Got("facts", text)
}

func coreDownResult(g *coreCase) {
	in, err := mapping.ReadDownResult(g.method, g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	if g.method != ext2026.MethodToolsList {
		g.done(mapping.AppendDownResult([]byte(prefix), g.method, in, g.resultOptions()))
		return
	}
	out, facts, notes, err := mapping.AppendDownToolsList([]byte(prefix), in, g.resultOptions())
	g.done(out, notes, err)
	if err == nil {
		g.facts(facts)
	}
}

func coreUpResult(g *coreCase) {
	opts := mapping.UpResultOptions{ServerInfo: wire.Value(g.o.ServerInfo)}
	var facts []mapping.LegacyToolFacts
	var out []byte
	var notes mapping.Notes
	var err error
	if g.method == legacy2025.MethodToolsList {
		out, facts, notes, err = mapping.AppendUpToolsList([]byte(prefix), g.in, opts)
	} else {
		out, notes, err = mapping.AppendUpResult([]byte(prefix), g.method, g.in, opts)
	}
	g.done(out, notes, err)
	if err != nil {
		return
	}
	if facts != nil {
		g.facts(facts)
	}
	// What a legacy server says comes back to a legacy client.
	again, err := ext2026.ParseResult(g.method, wire.Value(out[len(prefix):]))
	if err != nil {
		g.Fatal(err)
	}
	back, _, err := mapping.AppendDownResult(nil, g.method, again, g.resultOptions())
	if err != nil {
		g.Fatal(err)
	}
	g.c.Roundtrip("legacy.result", back)
}

func (g *coreCase) failure() *jsonrpc.Error {
	failure, err := jsonrpc.ParseError(g.in, "error")
	if err != nil {
		g.Fatal(err)
	}
	return failure
}

func coreDownReadError(g *coreCase) {
	g.done(jsonrpc.AppendErrorObject([]byte(prefix), mapping.DownReadError(g.failure(), g.o.URI)), 0, nil)
}

func coreUpReadError(g *coreCase) {
	g.done(jsonrpc.AppendErrorObject([]byte(prefix), mapping.UpReadError(g.failure())), 0, nil)
}

func coreHeaders(g *coreCase) {
	params, err := ext2026.FindParamHeaders(wire.Value(g.o.Schema))
	if err != nil {
		g.Fatal(err)
	}
	headers, err := ext2026.ParamHeaders(params, g.in)
	buf := []byte(prefix)
	if err == nil {
		text, err := json.Marshal(headers)
		if err != nil {
			g.Fatal(err)
		}
		buf = append(buf, text...)
	}
	g.done(buf, 0, err)
}

func coreInitialize(g *coreCase) {
	in, err := mapping.ReadDownDiscover(g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	g.done(mapping.AppendDownInitialize([]byte(prefix), in, mapping.InitializeOptions{
		Version: g.o.Version, FallbackName: g.o.FallbackName, CanListen: g.o.CanListen, Tasks: g.o.Tasks,
	}))
}

func coreDiscover(g *coreCase) {
	in, err := mapping.ReadUpInitialize(g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	out, notes, err := mapping.AppendUpDiscover([]byte(prefix), in, mapping.DiscoverOptions{CanListen: g.o.CanListen, HostTasks: g.o.HostTasks})
	g.done(out, notes, err)
	if err != nil {
		return
	}
	again, err := ext2026.ParseDiscoverResult(wire.Value(out[len(prefix):]))
	if err != nil {
		g.Fatal(err)
	}
	back, _, err := mapping.AppendDownInitialize(nil, again, mapping.InitializeOptions{CanListen: true, Tasks: true})
	if err != nil {
		g.Fatal(err)
	}
	g.c.Roundtrip("legacy.result", back)
}

func coreClientUp(g *coreCase) {
	g.done(mapping.AppendUpClientCapabilities([]byte(prefix), g.in, g.o.Version, mapping.UpCapabilities{Tasks: g.o.Tasks, Questions: g.o.Questions}))
}

func coreClientDown(g *coreCase) {
	g.done(mapping.AppendDownClientCapabilities([]byte(prefix), g.in, g.o.Version))
}

func coreUpParams(g *coreCase) {
	g.done(mapping.AppendUpParams([]byte(prefix), g.method, g.in, mapping.Envelope{
		ClientInfo: wire.Value(g.o.ClientInfo), Capabilities: wire.Value(g.o.Capabilities), LogLevel: g.o.LogLevel,
		ProgressToken: wire.Value(g.o.ProgressToken),
		Retry:         ext2026.Retry{InputResponses: wire.Value(g.o.InputResponses), RequestState: wire.Value(g.o.RequestState)},
	}))
}

func coreDownParams(g *coreCase) {
	g.done(mapping.AppendDownParams([]byte(prefix), g.method, g.in, mapping.DownEnvelope{ProgressToken: wire.Value(g.o.ProgressToken)}))
}

func coreDownLog(g *coreCase) { g.done(mapping.AppendDownLog([]byte(prefix), g.in, g.o.LogLevel)) }
func coreUpLog(g *coreCase)   { g.done(mapping.AppendUpLog([]byte(prefix), g.in, g.o.LogLevel)) }

func coreDownProgress(g *coreCase) {
	g.done(mapping.AppendDownProgress([]byte(prefix), g.in, wire.Value(g.o.ProgressToken)))
}

func coreUpProgress(g *coreCase) {
	g.done(mapping.AppendUpProgress([]byte(prefix), g.in, wire.Value(g.o.ProgressToken)))
}

func (g *coreCase) filter() ext2026.SubscriptionFilter {
	filter, err := ext2026.ParseSubscriptionFilter(g.in, "filter")
	if err != nil {
		g.Fatal(err)
	}
	return filter
}

func coreListen(g *coreCase) {
	g.done(mapping.AppendUpListen([]byte(prefix), g.filter(), mapping.Envelope{
		ClientInfo: wire.Value(g.o.ClientInfo), Capabilities: wire.Value(g.o.Capabilities),
	}), 0, nil)
}

func coreAcknowledged(g *coreCase) {
	g.done(mapping.AppendUpAcknowledged([]byte(prefix), g.filter(), wire.Value(g.o.SubscriptionID)), 0, nil)
}

func coreDownNotification(g *coreCase) {
	g.done(mapping.AppendDownNotification([]byte(prefix), g.method, g.in))
}

func coreUpNotification(g *coreCase) {
	g.done(mapping.AppendUpNotification([]byte(prefix), g.method, g.in, wire.Value(g.o.SubscriptionID)))
}
