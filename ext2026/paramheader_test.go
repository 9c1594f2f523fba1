package ext2026_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

var assay = []ext2026.ParamHeader{
	{Name: "Site", Path: []string{"site"}},
	{Name: "Depth", Path: []string{"at", "depth"}, Integer: true},
	{Name: "Live", Path: []string{"live"}},
}

func TestParamHeaders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   wire.Value
		want string // Name: value, joined by a bar
		path string
	}{
		{"A19 each kind", `{"site":" Öst ","at":{"depth":42},"live":true}`, "Mcp-Param-Site: =?base64?IMOWc3Qg?=|Mcp-Param-Depth: 42|Mcp-Param-Live: true", ""},
		{"§3.8 null and absent have none", `{"site":null,"at":{}}`, "", ""},
		{"§3.8 no arguments", ``, "", ""},
		{"§3.8 no object on the way", `{"at":[{"depth":1}],"live":false}`, "Mcp-Param-Live: false", ""},
		{"§3.8 null on the way", `{"at":null}`, "", ""},
		{"Q9 the empty string", `{"site":""}`, "Mcp-Param-Site: =?base64??=", ""},
		{"§3.8 integers in plain digits", `{"at":{"depth":4.20e1}}`, "Mcp-Param-Depth: 42", ""},
		{"§3.8 negative", `{"at":{"depth":-9007199254740991}}`, "Mcp-Param-Depth: -9007199254740991", ""},
		{"§3.8 minus zero", `{"at":{"depth":-0}}`, "Mcp-Param-Depth: 0", ""},
		{"§3.8 a fraction where the schema says integer", `{"at":{"depth":1.50}}`, "Mcp-Param-Depth: 1.50", ""},
		{"§3.8 a string where the schema says integer", `{"at":{"depth":"1e3"}}`, "Mcp-Param-Depth: 1e3", ""},
		{"§3.8 a number where the schema says string", `{"site":12345678901234567890}`, "Mcp-Param-Site: 12345678901234567890", ""},
		{"§3.8 a huge number where the schema says string", `{"site":1e999}`, "Mcp-Param-Site: 1e999", ""},
		{"§3.8 no primitive, no header", `{"site":["a"],"live":{}}`, "", ""},
		{"§3.8 an integer that not every peer can hold", `{"at":{"depth":9007199254740992}}`, "", "params.arguments.at.depth"},
		{"§3.8 an integer beyond all bounds", `{"at":{"depth":1e999}}`, "", "params.arguments.at.depth"},
		{"§3.8 a lone surrogate", `{"site":"\udc00"}`, "", "params.arguments.site"},
		{"duplicate on the way", `{"at":{"depth":1},"at":{"depth":2}}`, "", "params.arguments.at"},
		{"duplicate at the end", `{"at":{"depth":1,"\u0064epth":1}}`, "", "params.arguments.at.depth"},
		{"a duplicate elsewhere is the user's", `{"x":1,"x":2,"at":{"y":1,"y":2},"live":true}`, "Mcp-Param-Live: true", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			headers, err := ext2026.ParamHeaders(assay, tt.in)
			checkPath(t, err, tt.path)
			var got []string
			for _, h := range headers {
				got = append(got, h.Name+": "+h.Value)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if err == nil {
				// What a client sends is what a server accepts.
				if err := ext2026.MatchParamHeaders(assay, tt.in, lookup(headers)); err != nil {
					t.Errorf("MatchParamHeaders: %v", err)
				}
			}
		})
	}
}

func lookup(headers []ext2026.Header) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, h := range headers {
			if h.Name == name {
				return h.Value, true
			}
		}
		return "", false
	}
}

func TestMatchParamHeaders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		arguments wire.Value
		header    ext2026.Header
		want      string // the header at fault, empty for none
	}{
		{"§3.8 integers by value", `{"at":{"depth":42}}`, ext2026.Header{Name: "Mcp-Param-Depth", Value: "42.0"}, ""},
		{"§3.8 encoded", `{"site":"a"}`, ext2026.Header{Name: "Mcp-Param-Site", Value: "=?base64?YQ==?="}, ""},
		{"§3.8 not asked for", `{}`, ext2026.Header{Name: "Mcp-Param-Other", Value: "\xff"}, ""},
		{"§3.8 missing", `{"site":"a"}`, ext2026.Header{}, "Mcp-Param-Site"},
		{"§3.8 different", `{"site":"a"}`, ext2026.Header{Name: "Mcp-Param-Site", Value: "b"}, "Mcp-Param-Site"},
		{"§3.8 case matters", `{"live":true}`, ext2026.Header{Name: "Mcp-Param-Live", Value: "True"}, "Mcp-Param-Live"},
		{"§3.8 bad sentinel", `{"site":"a"}`, ext2026.Header{Name: "Mcp-Param-Site", Value: "=?base64?Y?="}, "Mcp-Param-Site"},
		{"§3.8 no such argument", `{"site":null}`, ext2026.Header{Name: "Mcp-Param-Site", Value: "a"}, "Mcp-Param-Site"},
		{"§3.8 no number", `{"at":{"depth":1}}`, ext2026.Header{Name: "Mcp-Param-Depth", Value: "+1"}, "Mcp-Param-Depth"},
		{"§3.8 another number", `{"at":{"depth":1}}`, ext2026.Header{Name: "Mcp-Param-Depth", Value: "2"}, "Mcp-Param-Depth"},
		{"§3.8 a string is no number", `{"at":{"depth":1}}`, ext2026.Header{Name: "Mcp-Param-Depth", Value: `"1"`}, "Mcp-Param-Depth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := ext2026.MatchParamHeaders(assay, tt.arguments, lookup([]ext2026.Header{tt.header}))
			var mismatch *ext2026.HeaderError
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error %v", err)
			case tt.want != "" && (!errors.As(err, &mismatch) || mismatch.Header != tt.want):
				t.Errorf("error %v, want one about %s", err, tt.want)
			case tt.want != "" && !strings.HasPrefix(err.Error(), tt.want+": "):
				t.Errorf("Error() = %q", err)
			}
		})
	}
	err := ext2026.MatchParamHeaders(assay, `{"site":1,"site":2}`, lookup(nil))
	checkPath(t, err, "params.arguments.site")
}
