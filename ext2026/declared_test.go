package ext2026_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestClientDeclares(t *testing.T) {
	t.Parallel()
	const no, other, yes = ext2026.DeclaredNot, ext2026.DeclaredOther, ext2026.DeclaredYes
	for _, c := range []struct {
		rule         string
		capabilities wire.Value
		method       string
		params       wire.Value
		want         ext2026.Declared
	}{
		{"Q35 empty means form", `{"elicitation":{}}`, "elicitation/create", `{"message":"m"}`, yes},
		{"Q35 empty means form", `{"elicitation":{}}`, "elicitation/create", `{"mode":"form"}`, yes},
		{"Q35 empty means no URL", `{"elicitation":{}}`, "elicitation/create", `{"mode":"url"}`, other},
		{"vendor members leave it at form", `{"elicitation":{"com.acme/x":{}}}`, "elicitation/create", `{}`, yes},
		{"form alone", `{"elicitation":{"form":{}}}`, "elicitation/create", `{"mode":"url"}`, other},
		{"URL alone", `{"elicitation":{"url":{}}}`, "elicitation/create", `{"mode":"url"}`, yes},
		{"URL alone is no form", `{"elicitation":{"url":{}}}`, "elicitation/create", `{}`, other},
		{"both", `{"elicitation":{"url":{},"form":{}}}`, "elicitation/create", `{}`, yes},
		{"only objects count", `{"elicitation":{"url":true}}`, "elicitation/create", `{"mode":"url"}`, other},
		{"only objects count", `{"elicitation":true}`, "elicitation/create", `{}`, no},
		{"null is not declared", `{"elicitation":null}`, "elicitation/create", `{}`, no},
		{"an unknown mode", `{"elicitation":{"url":{},"form":{}}}`, "elicitation/create", `{"mode":"voice"}`, other},
		{"a mode of another type", `{"elicitation":{"url":{},"form":{}}}`, "elicitation/create", `{"mode":7}`, other},
		{"sampling", `{"sampling":{}}`, "sampling/createMessage", `{"messages":[]}`, yes},
		{"sampling undeclared", `{"elicitation":{}}`, "sampling/createMessage", `{}`, no},
		{"tools", `{"sampling":{}}`, "sampling/createMessage", `{"tools":[]}`, other},
		{"choice of tools", `{"sampling":{"context":{}}}`, "sampling/createMessage", `{"toolChoice":{}}`, other},
		{"tools declared", `{"sampling":{"tools":{}}}`, "sampling/createMessage", `{"tools":[],"toolChoice":{}}`, yes},
		{"context", `{"sampling":{"tools":{}}}`, "sampling/createMessage", `{"includeContext":"thisServer"}`, other},
		{"context of a strange type", `{"sampling":{}}`, "sampling/createMessage", `{"includeContext":7}`, other},
		{"context none", `{"sampling":{}}`, "sampling/createMessage", `{"includeContext":"none"}`, yes},
		{"context declared", `{"sampling":{"context":{}}}`, "sampling/createMessage", `{"includeContext":"allServers"}`, yes},
		{"roots", `{"roots":{}}`, "roots/list", ``, yes},
		{"roots undeclared", `{}`, "roots/list", ``, no},
		{"no capabilities at all", ``, "roots/list", ``, no},
		{"no question", `{"roots":{},"sampling":{},"elicitation":{}}`, "ping", ``, no},
	} {
		if got := ext2026.ClientDeclares(c.capabilities, c.method, c.params); got != c.want {
			t.Errorf("%s: %s %s with %s: %d, want %d", c.rule, c.method, c.params, c.capabilities, got, c.want)
		}
	}
}

func TestElicitMode(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value]string{`{}`: "form", `{"mode":"form"}`: "form", `{"mode":"url"}`: "url", ``: "form"} {
		if mode, ok := ext2026.ElicitMode(in); mode != want || !ok {
			t.Errorf("%s: %q, %t", in, mode, ok)
		}
	}
	for _, in := range []wire.Value{`{"mode":"voice"}`, `{"mode":null}`, `{"mode":""}`} {
		if _, ok := ext2026.ElicitMode(in); ok {
			t.Errorf("%s has a mode", in)
		}
	}
}
