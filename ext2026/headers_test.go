package ext2026_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// §3.8: the table of the specification and of A19, both ways.
func TestHeaderEncoding(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"us-west1":            "us-west1",
		"a b":                 "a b",
		"Hello, 世界":           "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":            "=?base64?IHBhZGRlZCA=?=",
		"trailing ":           "=?base64?dHJhaWxpbmcg?=",
		"line1\nline2":        "=?base64?bGluZTEKbGluZTI=?=",
		"a\tb":                "=?base64?YQli?=",
		"\x7f":                "=?base64?fw==?=",
		"":                    "=?base64??=",
		"=?base64?literal?=":  "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"=?base64?":           "=?base64?",
		"=?BASE64?literal?=":  "=?BASE64?literal?=",
		"x=?base64?literal?=": "x=?base64?literal?=",
		"prüfen":              "=?base64?cHLDvGZlbg==?=",
		" Öst ":               "=?base64?IMOWc3Qg?=",
		"vein://404":          "vein://404",
	} {
		if got := ext2026.EncodeHeader(in); got != want {
			t.Errorf("EncodeHeader(%q) = %q, want %q", in, got, want)
		}
		if back, ok := ext2026.DecodeHeader(want); !ok || back != in {
			t.Errorf("DecodeHeader(%q) = %q, %v, want %q", want, back, ok, in)
		}
	}
}

func TestDecodeHeader(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                  "", // the decoder takes both spellings of the empty string (Q9)
		" \t x \t ":         "x",
		"a\tb":              "a\tb",
		" =?base64?YQ==?= ": "a",
		"=?base64?YQ==":     "=?base64?YQ==",
		"=?Base64?YQ==?=":   "=?Base64?YQ==?=",
	} {
		if got, ok := ext2026.DecodeHeader(in); !ok || got != want {
			t.Errorf("DecodeHeader(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
	for name, in := range map[string]string{
		"no padding":          "=?base64?YQ?=",
		"bits behind the end": "=?base64?YR==?=",
		"URL alphabet":        "=?base64?_-8=?=",
		"no UTF-8":            "=?base64?/w==?=",
		"a line break inside": "=?base64?YQ\n==?=",
		"junk":                "=?base64?!!!!?=",
		"a raw byte":          "pr\xc3\xbcfen",
		"a control character": "a\x01",
		"a line break":        "a\nb",
	} {
		if got, ok := ext2026.DecodeHeader(in); ok {
			t.Errorf("%s: DecodeHeader(%q) = %q", name, in, got)
		}
	}
}

func TestNameHeader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method string
		params wire.Value
		want   string
		ok     bool
		path   string
	}{
		{"tools/call", `{"name":"prüfen"}`, "=?base64?cHLDvGZlbg==?=", true, ""},
		{"prompts/get", `{"uri":"x","name":"brief"}`, "brief", true, ""},
		{"resources/read", `{"uri":"vein://7","name":"x"}`, "vein://7", true, ""},
		{"tasks/get", `{"taskId":"tk-1"}`, "tk-1", true, ""},
		{"tasks/update", `{"taskId":"tk-1"}`, "tk-1", true, ""},
		{"tasks/cancel", `{"taskId":""}`, "=?base64??=", true, ""},
		{"tools/list", `{"name":"x"}`, "", false, ""},
		{"acme/dig", `{"name":"x"}`, "", false, ""},
		{"tools/call", `{}`, "", false, "params.name"},
		{"tools/call", `{"name":7}`, "", false, "params.name"},
		{"resources/read", `{"uri":"a\ud800"}`, "", false, "params.uri"},
	}
	for _, tt := range tests {
		got, ok, err := ext2026.NameHeader(tt.method, tt.params)
		if got != tt.want || ok != tt.ok {
			t.Errorf("NameHeader(%s, %s) = %q, %v", tt.method, tt.params, got, ok)
		}
		checkPath(t, err, tt.path)
	}
}

// FuzzHeader proves that every string survives a header, and that what is sent is
// nothing but printable ASCII without spaces around it.
func FuzzHeader(f *testing.F) {
	for _, s := range []string{"", "a", " a", "=?base64?YQ==?=", "prüfen", "a\r\nX: y", "\x00", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if value, ok := ext2026.DecodeHeader(s); ok {
			if again, ok := ext2026.DecodeHeader(ext2026.EncodeHeader(value)); !ok || again != value {
				t.Fatalf("%q decodes to %q, which does not survive: %q, %v", s, value, again, ok)
			}
		}
		s = strings.ToValidUTF8(s, "\ufffd")
		value := ext2026.EncodeHeader(s)
		if value == "" || strings.TrimSpace(value) != value {
			t.Fatalf("%q is sent as %q", s, value)
		}
		for _, c := range []byte(value) {
			if c < 0x20 || c > 0x7e {
				t.Fatalf("%q is sent as %q", s, value)
			}
		}
		if back, ok := ext2026.DecodeHeader(value); !ok || back != s {
			t.Fatalf("%q comes back as %q, %v", s, back, ok)
		}
	})
}
