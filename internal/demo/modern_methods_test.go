package demo_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

func TestModernDiscover(t *testing.T) {
	t.Parallel()
	res := do(t, newModern(t, demo.Options{}), call{method: "server/discover"}).result()
	cacheable(t, res, 300_000)
	want := object{
		"tools": object{"listChanged": true}, "prompts": object{"listChanged": true},
		"resources":   object{"listChanged": true, "subscribe": true},
		"completions": object{}, "logging": object{}, "extensions": object{extension: object{}},
	}
	if diff := cmp.Diff(want, res["capabilities"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{version}, res["supportedVersions"]); diff != "" {
		t.Error(diff)
	}
	if s, _ := res["instructions"].(string); s == "" {
		t.Error("no instructions")
	}
}

func cacheable(t *testing.T, res object, ttl float64) {
	t.Helper()
	if res["ttlMs"] != ttl || res["cacheScope"] != "public" {
		t.Errorf("caching hints: %v %v", res["ttlMs"], res["cacheScope"])
	}
}

// names reads one list, through all its pages.
func names(t *testing.T, m *demo.Modern, method, list, key string) (all []string, pages int) {
	t.Helper()
	params := object{}
	for {
		res := do(t, m, call{method: method, params: params}).result()
		cacheable(t, res, 300_000)
		entries, _ := res[list].([]any)
		for _, e := range entries {
			entry, _ := e.(object)
			name, _ := entry[key].(string)
			all = append(all, name)
		}
		pages++
		cursor, more := res["nextCursor"]
		if !more {
			return all, pages
		}
		params = object{"cursor": cursor}
	}
}

func TestModernLists(t *testing.T) {
	t.Parallel()
	tools := []string{
		"add", "work", "grind", "only_task", "structured", "tool_error", "fail",
		"ask", "ask_twice", "ask_both", "ask_first", "sample", "count", "locate", "announce", "runs",
	}
	tests := map[string]struct {
		list, key string
		want      []string
	}{
		"tools/list":               {"tools", "name", tools},
		"prompts/list":             {"prompts", "name", []string{"greeting", "explain"}},
		"resources/list":           {"resources", "uri", []string{"demo://readme", "demo://pixel", "demo://clock"}},
		"resources/templates/list": {"resourceTemplates", "uriTemplate", []string{"demo://planets/{planet}"}},
	}
	for method, test := range tests {
		for size, opts := range map[int]demo.Options{0: {}, 1: {PageSize: 1}, 9: {PageSize: 9}, 16: {PageSize: 16}} {
			got, pages := names(t, newModern(t, opts), method, test.list, test.key)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s in pages of %d: %s", method, size, diff)
			}
			want := 1
			if size > 0 {
				want = (len(got) + size - 1) / size
			}
			if pages != want {
				t.Errorf("%s in pages of %d: %d pages, want %d", method, size, pages, want)
			}
		}
	}
}

func TestModernCursors(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{PageSize: 2})
	prompts := base64.RawURLEncoding.EncodeToString([]byte("resources 2"))
	for name, cursor := range map[string]any{
		"empty": "", "a number": 2, "null": nil, "not base64": "%%%", "of another list": prompts,
		"a place that is no number":  base64.RawURLEncoding.EncodeToString([]byte("tools x")),
		"a place before the list":    base64.RawURLEncoding.EncodeToString([]byte("tools -1")),
		"a place behind the list":    base64.RawURLEncoding.EncodeToString([]byte("tools 16")),
		"with something attached":    base64.RawURLEncoding.EncodeToString([]byte("tools 2")) + "!",
		"far outside what int holds": base64.RawURLEncoding.EncodeToString([]byte("tools 99999999999999999999")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, m, call{method: "tools/list", params: object{"cursor": cursor}}).fails(200, -32602)
		})
	}
}

// TestModernToolEntries holds for every tool what clients rely on.
func TestModernToolEntries(t *testing.T) {
	t.Parallel()
	res := do(t, newModern(t, demo.Options{}), call{method: "tools/list"}).result()
	entries, _ := res["tools"].([]any)
	outputs := map[string]bool{"add": true, "structured": true, "runs": true}
	for _, e := range entries {
		entry, _ := e.(object)
		name, _ := entry["name"].(string)
		input, _ := entry["inputSchema"].(object)
		if d, _ := entry["description"].(string); len(d) < 20 || entry["title"] == "" || input["type"] != "object" {
			t.Errorf("%s: %v", name, entry)
		}
		output, _ := entry["outputSchema"].(object)
		if outputs[name] != (output["type"] == "object") {
			t.Errorf("%s: outputSchema %v", name, output)
		}
		if _, there := entry["execution"]; there {
			t.Errorf("%s has an execution member, which is the other era's", name)
		}
	}
}

func TestModernPrompts(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	prompt := func(name string, arguments any) answer {
		return do(t, m, call{method: "prompts/get", params: object{"name": name, "arguments": arguments}})
	}
	said := func(a answer) string {
		t.Helper()
		messages, _ := a.result()["messages"].([]any)
		last, _ := messages[len(messages)-1].(object)
		content, _ := last["content"].(object)
		s, _ := content["text"].(string)
		return s
	}
	if got, want := said(prompt("greeting", object{"name": "Ada"})), `Greet Ada in english, for example with "Hello".`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := said(prompt("greeting", object{"name": "Ada", "language": "greek"})), `Greet Ada in greek, for example with "Yasou".`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	messages, _ := prompt("explain", object{"planet": "mars"}).result()["messages"].([]any)
	want := object{"role": "user", "content": object{"type": "resource", "resource": object{
		"uri": "demo://planets/mars", "mimeType": "application/json", "text": `{"name":"mars","alphabetical":3}`,
	}}}
	if diff := cmp.Diff([]any{want}, messages[:1]); diff != "" {
		t.Error(diff)
	}
	for name, a := range map[string]answer{
		"unknown prompt":           prompt("nobody", object{}),
		"missing argument":         prompt("greeting", object{}),
		"unknown language":         prompt("greeting", object{"name": "Ada", "language": "klingon"}),
		"unknown planet":           prompt("explain", object{"planet": "pluto"}),
		"argument that is a list":  prompt("greeting", object{"name": []int{1}}),
		"arguments that are text":  prompt("greeting", "Ada"),
		"arguments that are null":  prompt("greeting", nil),
		"argument that is missing": do(t, m, call{method: "prompts/get", params: object{"name": "explain"}}),
	} {
		t.Run(name, func(t *testing.T) { a.fails(200, -32602) })
	}
}

func TestModernResources(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	content := func(uri string, ttl float64) object {
		t.Helper()
		res := do(t, m, call{method: "resources/read", params: object{"uri": uri}}).result()
		cacheable(t, res, ttl)
		contents, _ := res["contents"].([]any)
		if len(contents) != 1 {
			t.Fatalf("%s: %v", uri, res)
		}
		c, _ := contents[0].(object)
		if c["uri"] != uri {
			t.Errorf("%s: %v", uri, c)
		}
		return c
	}
	if c := content("demo://readme", 300_000); c["mimeType"] != "text/plain" || c["text"] == "" {
		t.Errorf("readme: %v", c)
	}
	blob, _ := content("demo://pixel", 300_000)["blob"].(string)
	if b, err := base64.StdEncoding.DecodeString(blob); err != nil || string(b[1:4]) != "PNG" {
		t.Errorf("pixel: %q %v", blob, err)
	}
	if c := content("demo://clock", 0); c["text"] == "" {
		t.Errorf("clock: %v", c)
	}
	var venus object
	text, _ := content("demo://planets/venus", 300_000)["text"].(string)
	if err := json.Unmarshal([]byte(text), &venus); err != nil || venus["name"] != "venus" {
		t.Errorf("venus: %q %v", text, err)
	}
	for _, uri := range []string{"demo://nothing", "demo://planets/", "demo://planets/pluto", "demo://planets/{planet}", "venus", ""} {
		data := do(t, m, call{method: "resources/read", params: object{"uri": uri}}).fails(200, -32602)
		if data["uri"] != uri {
			t.Errorf("%s: data %v", uri, data)
		}
	}
}

func TestModernCompletion(t *testing.T) {
	t.Parallel()
	m := newModern(t, demo.Options{})
	prompt := func(name string) object { return object{"type": "ref/prompt", "name": name} }
	template := object{"type": "ref/resource", "uri": "demo://planets/{planet}"}
	ask := func(ref, name, value any) answer {
		return do(t, m, call{method: "completion/complete", params: object{"ref": ref, "argument": object{"name": name, "value": value}}})
	}
	for _, test := range []struct {
		ref         object
		name, typed string
		want        []any
	}{
		{prompt("greeting"), "language", "g", []any{"german", "greek"}},
		{prompt("greeting"), "language", "GRE", []any{"greek"}},
		{prompt("greeting"), "language", "x", []any{}},
		{prompt("greeting"), "name", "A", []any{}},
		{prompt("explain"), "planet", "m", []any{"mars", "mercury"}},
		{template, "planet", "v", []any{"venus"}},
	} {
		got := ask(test.ref, test.name, test.typed).result()["completion"]
		want := object{"values": test.want, "total": float64(len(test.want)), "hasMore": false}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %q: %s", test.name, test.typed, diff)
		}
	}
	for name, a := range map[string]answer{
		"unknown prompt":     ask(prompt("nobody"), "language", ""),
		"unknown argument":   ask(prompt("greeting"), "age", ""),
		"unknown template":   ask(object{"type": "ref/resource", "uri": "demo://x"}, "planet", ""),
		"unknown kind":       ask(object{"type": "ref/x", "name": "greeting"}, "language", ""),
		"a ref that is text": ask("greeting", "language", ""),
		"a value of 7":       ask(prompt("greeting"), "language", 7),
		"no argument":        do(t, m, call{method: "completion/complete", params: object{"ref": prompt("greeting")}}),
	} {
		t.Run(name, func(t *testing.T) { a.fails(200, -32602) })
	}
}
