package demo_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

func TestLegacyListsInPages(t *testing.T) {
	t.Parallel()
	for size, pages := range map[int]int{0: 1, 7: 3, 20: 1} {
		p := join(t, newLegacy(t, demo.Options{PageSize: size}))
		var names []any
		seen := 0
		for params := (object{}); seen == 0 || params["cursor"] != nil; seen++ {
			res := p.ok("tools/list", params)
			list, _ := res["tools"].([]any)
			for _, entry := range list {
				tool, _ := entry.(object)
				names = append(names, tool["name"])
			}
			params = object{"cursor": res["nextCursor"]}
		}
		want := []any{
			"add", "work", "grind", "only_task", "structured", "tool_error", "fail", "ask", "ask_twice", "ask_both",
			"ask_first", "sample", "count", "locate", "announce", "runs", "visit", "sign_in", "roots", "hang_up",
		}
		if diff := cmp.Diff(want, names); diff != "" || seen != pages {
			t.Errorf("pages of %d: %d, %s", size, seen, diff)
		}
		p.do("tools/list", object{"cursor": "x"}).fails(200, -32602)
		p.do("prompts/list", object{"cursor": ""}).fails(200, -32602)
	}
}

func TestLegacyToolsHaveNothingOfTheOtherEra(t *testing.T) {
	t.Parallel()
	p := join(t, newLegacy(t, demo.Options{}))
	raw := p.do("tools/list", nil).raw
	for _, word := range []string{"x-mcp-header", "Mcp-Param"} {
		if strings.Contains(raw, word) {
			t.Errorf("%s in %s", word, raw)
		}
	}
	m := newModern(t, demo.Options{})
	if modern := do(t, m, call{method: "tools/list"}).raw; !strings.Contains(modern, "x-mcp-header") || strings.Contains(modern, "sign_in") {
		t.Errorf("the modern tools changed: %s", modern)
	}
}

func TestLegacyContent(t *testing.T) {
	t.Parallel()
	l := newLegacy(t, demo.Options{})
	p, old := join(t, l), joinAs(t, l, oldest, object{})
	for list, method := range map[string]string{
		"prompts": "prompts/list", "resources": "resources/list", "resourceTemplates": "resources/templates/list",
	} {
		entries, _ := p.ok(method, nil)[list].([]any)
		older, _ := old.ok(method, nil)[list].([]any)
		if len(entries) == 0 || len(entries) != len(older) {
			t.Fatalf("%s: %v, %v", method, entries, older)
		}
		first, _ := entries[0].(object)
		before, _ := older[0].(object)
		if first["title"] == nil || before["title"] != nil || first["name"] != before["name"] {
			t.Errorf("%s: %v, %v", method, first, before)
		}
	}
	contents, _ := p.ok("resources/read", object{"uri": "demo://clock"})["contents"].([]any)
	clock, _ := contents[0].(object)
	if text, _ := clock["text"].(string); clock["uri"] != "demo://clock" || func() bool { _, err := time.Parse(time.RFC3339, text); return err != nil }() {
		t.Errorf("%v", contents)
	}
	if data := p.do("resources/read", object{"uri": "demo://planets/pluto"}).fails(200, -32002); data["uri"] != "demo://planets/pluto" {
		t.Errorf("data: %v", data)
	}
	p.do("resources/read", object{"uri": 7}).fails(200, -32602)
	p.do("resources/unsubscribe", object{"uri": "demo://nothing"}).fails(200, -32002)
	got := p.ok("prompts/get", object{"name": "greeting", "arguments": object{"name": "Ada"}})
	if messages, _ := got["messages"].([]any); len(messages) != 1 {
		t.Errorf("%v", got)
	}
	p.do("prompts/get", object{"name": "nobody"}).fails(200, -32602)
	done := p.ok("completion/complete", object{
		"ref": object{"type": "ref/prompt", "name": "greeting"}, "argument": object{"name": "language", "value": "g"},
	})
	want := object{"values": []any{"german", "greek"}, "total": 2.0, "hasMore": false}
	if diff := cmp.Diff(any(want), done["completion"]); diff != "" {
		t.Error(diff)
	}
	for _, method := range []string{"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
		if res := p.ok(method, object{"level": "info", "uri": "demo://clock"}); len(res) != 0 {
			t.Errorf("%s: %v", method, res)
		}
	}
}
