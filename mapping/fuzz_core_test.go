package mapping_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/golden"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// coreDirs are the directories of the golden files that are not about tasks.
var coreDirs = []string{
	"initialize", "tools-list", "tools-call", "prompts", "resources", "completion", "meta", "logging", "progress", "subscriptions",
}

// seedMethods adds the method and the section of that name of every golden file.
func seedMethods(f *testing.F, section string) {
	f.Helper()
	for _, dir := range coreDirs {
		cases, err := golden.Cases(goldenRoot + "/" + dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			method, _ := c.Get("method")
			if body, ok := c.Get(section); ok {
				f.Add(string(method), string(body))
			}
		}
	}
}

// refusedWell checks an error of a translation: typed, with a path that exists,
// and nothing written.
func refusedWell(t *testing.T, buf []byte, err error) {
	t.Helper()
	var failure *mapping.Error
	if !errors.As(err, &failure) || failure.Path == "" || len(buf) != 0 {
		t.Fatalf("error %v beside %q", err, buf)
	}
}

// FuzzUpParams proves that the envelope is ours whatever the client says, that what
// no rule names crosses byte for byte, and that the way back finds it all.
func FuzzUpParams(f *testing.F) {
	seedMethods(f, "legacy.params")
	f.Fuzz(func(t *testing.T, method, text string) {
		in, ok := checked(text)
		if !ok {
			return
		}
		env := orbitEnvelope()
		out, notes, err := mapping.AppendUpParams(nil, method, in, env)
		if err != nil {
			refusedWell(t, out, err)
			return
		}
		up := written(t, out, notes, err, []string{"task"}, legacyKeys)
		meta := up.Get("_meta")
		if version, _ := meta.Get(wire.MetaProtocolVersion).Text(); version != ext2026.Version {
			t.Fatalf("version %q\n%s", version, up)
		}
		for key, want := range map[string]wire.Value{
			wire.MetaClientInfo: env.ClientInfo, wire.MetaClientCapabilities: env.Capabilities, wire.MetaLogLevel: "",
			wire.MetaServerInfo: "", wire.MetaSubscriptionID: "",
		} {
			if got := meta.Get(key); got != want {
				t.Fatalf("%s is %s\n%s", key, got, up)
			}
		}
		ignored := []string{"_meta", "task"}
		if ext2026.Asks(method) {
			ignored = append(ignored, "inputResponses", "requestState")
		}
		if ext2026.ItemsMember(method) != "" {
			ignored = append(ignored, "cursor")
		}
		sameMembers(t, in, up, ignored)
		sameMembers(t, in.Get("_meta"), meta, slices.Concat(modernKeys, legacyKeys, []string{wire.MetaProgressToken}))

		// A modern request has retries that a legacy one has not; none is in here.
		down, _, err := mapping.AppendDownParams(nil, method, up, mapping.DownEnvelope{ProgressToken: "1"})
		if err != nil {
			// A modern server reads some methods that a legacy one does not know.
			if !slices.Contains([]string{ext2026.MethodSubscriptionsListen}, method) {
				t.Fatalf("the way back: %v\n%s", err, up)
			}
			return
		}
		sameMembers(t, in, wire.Value(down), ignored)
	})
}

// sameMembers checks that every member of in is a member of out, byte for byte and
// in the same order, but for the ignored names.
func sameMembers(t *testing.T, in, out wire.Value, ignored []string) {
	t.Helper()
	var want, got []wire.Member
	for m := range in.Members() {
		if !slices.Contains(ignored, m.Name) {
			want = append(want, m)
		}
	}
	for m := range out.Members() {
		if !slices.Contains(ignored, m.Name) {
			got = append(got, m)
		}
	}
	if !slices.Equal(want, got) {
		t.Fatalf("members %v, want %v", got, want)
	}
}

// FuzzDownResult proves that nothing of the modern era gets through at a protocol
// position, that what no rule names crosses byte for byte, and that a result which
// has crossed once crosses unchanged ever after.
func FuzzDownResult(f *testing.F) {
	seedMethods(f, "modern.result")
	f.Fuzz(func(t *testing.T, method, text string) {
		in, ok := checked(text)
		if !ok {
			return
		}
		result, err := mapping.ReadDownResult(method, in)
		if err != nil {
			refusedWell(t, nil, err)
			return
		}
		out, notes, err := mapping.AppendDownResult(nil, method, result, mapping.ResultOptions{})
		if err != nil {
			refusedWell(t, out, err)
			return
		}
		down := written(t, out, notes, err, []string{"resultType"}, slices.Concat(modernKeys, legacyKeys))
		ignored := []string{"_meta", "resultType"}
		if ext2026.Cacheable(method) {
			ignored = append(ignored, "ttlMs", "cacheScope")
		}
		if ext2026.Asks(method) {
			ignored = append(ignored, "inputRequests", "requestState")
		}
		switch {
		case method == ext2026.MethodToolsCall:
			ignored = append(ignored, "content", "structuredContent", "task")
		case method == ext2026.MethodToolsList:
			ignored = append(ignored, "tools", "nextCursor")
		case ext2026.ItemsMember(method) != "":
			ignored = append(ignored, "nextCursor")
		}
		sameMembers(t, in, down, ignored)
		sameMembers(t, in.Get("_meta"), down.Get("_meta"), slices.Concat(modernKeys, legacyKeys))
		again(t, method, down)
	})
}

// again takes a legacy result up and down once more.
func again(t *testing.T, method string, legacy wire.Value) {
	t.Helper()
	up, notes, err := mapping.AppendUpResult(nil, method, legacy, mapping.UpResultOptions{})
	if err != nil {
		t.Fatalf("the way back: %v\n%s", err, legacy)
	}
	if notes.Has(mapping.NoteValuesCut) {
		return
	}
	result, err := mapping.ReadDownResult(method, wire.Value(up))
	if err != nil {
		t.Fatalf("the way back: %v\n%s", err, up)
	}
	down, _, err := mapping.AppendDownResult(nil, method, result, mapping.ResultOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ignored := []string{"_meta"} // it moves to the end
	if ext2026.ItemsMember(method) != "" {
		ignored = append(ignored, "nextCursor") // an alias gets an alias
	}
	sameMembers(t, legacy, wire.Value(down), ignored)
}

// FuzzDownToolsList proves that what a legacy client is told of tools is what it
// can read, and that the facts are those of the tools.
func FuzzDownToolsList(f *testing.F) {
	seed(f, "modern.result", "tools-list")
	for _, schema := range []string{
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"}},"items":[true,{"not":false}]}`,
		`{"$id":"x","$ref":"#","allOf":[{"$anchor":"a"}]}`, `true`, `{"type":"object","dependencies":{"a":["b"],"c":true}}`,
	} {
		f.Add(`{"tools":[{"name":"a","inputSchema":{"allOf":[` + schema + `]},"outputSchema":` + schema + `}]}`)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in, ok := checked(text)
		if !ok {
			return
		}
		result, err := mapping.ReadDownResult(ext2026.MethodToolsList, in)
		if err != nil {
			return
		}
		out, facts, notes, err := mapping.AppendDownToolsList(nil, result, mapping.ResultOptions{Tasks: true})
		if err != nil {
			refusedWell(t, out, err)
			return
		}
		down := written(t, out, notes, err, []string{"resultType", "ttlMs", "cacheScope"}, slices.Concat(modernKeys, legacyKeys))
		told := 0
		for i, tool := range down.Get("tools").Elements() {
			told++
			checkTold(t, tool, facts[i])
		}
		if told != len(facts) {
			t.Fatalf("%d tools, %d facts", told, len(facts))
		}
	})
}

func checkTold(t *testing.T, tool wire.Value, facts mapping.ToolFacts) {
	t.Helper()
	view, err := ext2026.ParseTool(tool, "tool")
	if err != nil || view.Name != facts.Name {
		t.Fatalf("tool %s of %+v: %v", tool, facts, err)
	}
	if legal, err := ext2026.FindParamHeaders(view.InputSchema); err != nil && !strings.Contains(err.Error(), "nesting") || legal != nil {
		t.Fatalf("annotations left in %s: %v", view.InputSchema, err)
	}
	if !view.InputSchema.Get("type").Present() {
		t.Fatalf("no root type in %s", view.InputSchema)
	}
	if view.OutputSchema.Present() && view.OutputSchema.Get("type") != `"object"` {
		t.Fatalf("output schema %s", view.OutputSchema)
	}
	if support := view.Raw.Get("execution"); support != `{"taskSupport":"optional"}` {
		t.Fatalf("execution %s", support)
	}
}
