package mapping_test

import (
	"slices"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// FuzzDownParams proves that what a modern client says of itself and of its retry
// goes no further, that a task is the bridge's whatever the client wants, and that
// what no rule names crosses byte for byte.
func FuzzDownParams(f *testing.F) {
	seedMethods(f, "modern.params")
	seedMethods(f, "legacy.params")
	f.Fuzz(func(t *testing.T, method, text string) {
		in, ok := checked(text)
		if !ok {
			return
		}
		for _, task := range []wire.Value{"", `{"ttl":1}`} {
			out, notes, err := mapping.AppendDownParams(nil, method, in, mapping.DownEnvelope{ProgressToken: "1", Task: task})
			if err != nil {
				refusedWell(t, out, err)
				return
			}
			var names []string
			if ext2026.Asks(method) {
				names = []string{"inputResponses", "requestState"}
			}
			down := written(t, out, notes, err, names, slices.Concat(modernKeys, legacyKeys))
			if got := down.Get("task"); got != task {
				t.Fatalf("task %s\n%s", got, down)
			}
			sameMembers(t, in, down, append(names, "_meta", "task"))
			sameMembers(t, in.Get("_meta"), down.Get("_meta"), slices.Concat(modernKeys, legacyKeys, []string{wire.MetaProgressToken}))
			if had := in.Get("_meta").Get(wire.MetaProgressToken).Present(); had && down.Get("_meta").Get(wire.MetaProgressToken) != "1" {
				t.Fatalf("the client's progress token\n%s", down)
			}
		}
	})
}

// FuzzUpResult proves that the result of a legacy server is complete and the bridge's
// as to its type, its hints and who it is from, and that nothing of the legacy era
// gets through at a protocol position.
func FuzzUpResult(f *testing.F) {
	seedMethods(f, "legacy.result")
	const info = `{"name":"basalt","version":"1"}`
	f.Fuzz(func(t *testing.T, method, text string) {
		in, ok := checked(text)
		if !ok {
			return
		}
		out, notes, err := mapping.AppendUpResult(nil, method, in, mapping.UpResultOptions{ServerInfo: info})
		if err != nil {
			refusedWell(t, out, err)
			return
		}
		up := written(t, out, notes, err, nil, legacyKeys)
		if up.Get("resultType") != `"complete"` || up.Get("_meta").Get(wire.MetaServerInfo) != info {
			t.Fatalf("no complete result of basalt\n%s", up)
		}
		ignored := []string{"_meta", "resultType", "nextCursor"}
		if ext2026.Cacheable(method) {
			if up.Get("ttlMs") != "0" || up.Get("cacheScope") != `"private"` {
				t.Fatalf("hints\n%s", up)
			}
			ignored = append(ignored, "ttlMs", "cacheScope")
		}
		if ext2026.Asks(method) {
			ignored = append(ignored, "inputRequests", "requestState")
		}
		switch method {
		case ext2026.MethodToolsList:
			ignored = append(ignored, "tools")
			for _, tool := range up.Get("tools").Elements() {
				if tool.Get("execution").Present() {
					t.Fatalf("execution\n%s", up)
				}
			}
		case ext2026.MethodToolsCall:
			ignored = append(ignored, "content")
		case ext2026.MethodCompletionComplete:
			ignored = append(ignored, "completion")
		}
		sameMembers(t, in, up, ignored)
		sameMembers(t, in.Get("_meta"), up.Get("_meta"), slices.Concat(modernKeys, legacyKeys))
	})
}

// FuzzUpDiscover proves that what a modern client is told of a legacy server is a
// DiscoverResult of this route's only version, with the tasks extension where the
// server has tasks for calls, and without any other word of them.
func FuzzUpDiscover(f *testing.F) {
	seed(f, "legacy.result", "initialize")
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := checked(text)
		if !ok {
			return
		}
		about, err := mapping.ReadUpInitialize(v)
		if err != nil {
			refusedWell(t, nil, err)
			return
		}
		out, notes, err := mapping.AppendUpDiscover(nil, about, mapping.DiscoverOptions{CanListen: true})
		if err != nil {
			refusedWell(t, out, err)
			return
		}
		up := written(t, out, notes, err, []string{"protocolVersion", "serverInfo"}, legacyKeys)
		if up.Get("supportedVersions") != `["2026-07-28"]` || up.Get("resultType") != `"complete"` || up.Get("ttlMs") != "0" {
			t.Fatalf("no DiscoverResult\n%s", up)
		}
		discovered, err := mapping.ReadDownDiscover(up)
		if err != nil {
			t.Fatalf("%v\n%s", err, up)
		}
		capabilities := discovered.Get("capabilities")
		announced := capabilities.Get("extensions").Get(wire.TasksExtension).Present()
		calls := v.Get("capabilities").Get("tasks").Get("requests").Get("tools").Get("call").Present()
		if capabilities.Get("tasks").Present() || announced && !calls {
			t.Fatalf("capabilities of %s\n%s", v, up)
		}
	})
}
