package ext2026_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestFindParamHeaders(t *testing.T) {
	t.Parallel()
	const p = "inputSchema.properties."
	deep := strings.Repeat(`{"properties":{"a":`, 70) + `{"x-mcp-header":"A","type":"string"}` + strings.Repeat(`}}`, 70)
	tests := []struct {
		name  string
		in    wire.Value
		legal []ext2026.ParamHeader
		path  string
	}{
		{name: "no annotations", in: `{"type":"object","properties":{"a":{"type":"number"}}}`},
		{
			name: "A19 each kind", in: `{"properties":{"site":{"type":"string","x-mcp-header":"Site"},"depth":{"x-mcp-header":"Depth","type":"integer"},"live":{"type":"boolean","x-mcp-header":"!#$%&'*+-.^_|~0"}}}`,
			legal: []ext2026.ParamHeader{{Name: "Site", Path: []string{"site"}}, {Name: "Depth", Path: []string{"depth"}, Integer: true}, {Name: "!#$%&'*+-.^_|~0", Path: []string{"live"}}},
		},
		{
			name: "§3.8 properties of properties", in: `{"properties":{"a":{"properties":{"b":{"type":"string","x-mcp-header":"B"},"c":{"type":"string","x-mcp-header":"C"}}},"d":{"type":"string","x-mcp-header":"D"}}}`,
			legal: []ext2026.ParamHeader{{Name: "B", Path: []string{"a", "b"}}, {Name: "C", Path: []string{"a", "c"}}, {Name: "D", Path: []string{"d"}}},
		},
		{
			name: "a property of that name", in: `{"properties":{"x-mcp-header":{"type":"string","x-mcp-header":"X"}}}`,
			legal: []ext2026.ParamHeader{{Name: "X", Path: []string{"x-mcp-header"}}},
		},
		{name: "data is data", in: `{"properties":{"a":{"default":{"x-mcp-header":"A"},"enum":[{"x-mcp-header":1}],"x-acme":{"x-mcp-header":""}}}}`},
		{name: "A18 no token", in: `{"properties":{"a":{"type":"string","x-mcp-header":"Two Words"}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 empty", in: `{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 a line break", in: `{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nX"}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 a colon", in: `{"properties":{"a":{"type":"string","x-mcp-header":"A:"}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 beyond ASCII", in: `{"properties":{"a":{"type":"string","x-mcp-header":"É"}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 no string", in: `{"properties":{"a":{"type":"string","x-mcp-header":true}}}`, path: p + "a.x-mcp-header"},
		{
			name: "§3.8 twice in whatever case", in: `{"properties":{"a":{"type":"string","x-mcp-header":"Name"},"b":{"type":"string","x-mcp-header":"nAME"}}}`,
			legal: []ext2026.ParamHeader{{Name: "Name", Path: []string{"a"}}}, path: p + "b.x-mcp-header",
		},
		{name: "Q10 number", in: `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 object", in: `{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 no type", in: `{"properties":{"a":{"x-mcp-header":"A"}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 a list of types", in: `{"properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}}}`, path: p + "a.x-mcp-header"},
		{name: "§3.8 the root", in: `{"type":"string","x-mcp-header":"A"}`, path: "inputSchema.x-mcp-header"},
		{name: "§3.8 items", in: `{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}`, path: p + "a.items.x-mcp-header"},
		{name: "§3.8 a list of items", in: `{"items":[{"type":"string","x-mcp-header":"A"}]}`, path: "inputSchema.items[0].x-mcp-header"},
		{name: "§3.8 composition", in: `{"anyOf":[{},{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, path: "inputSchema.anyOf[1].properties.a.x-mcp-header"},
		{name: "§3.8 condition", in: `{"then":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, path: "inputSchema.then.properties.a.x-mcp-header"},
		{name: "§3.8 definitions", in: `{"$defs":{"d":{"type":"string","x-mcp-header":"A"}}}`, path: "inputSchema.$defs.d.x-mcp-header"},
		{name: "§3.8 patterns", in: `{"patternProperties":{"^a":{"type":"string","x-mcp-header":"A"}}}`, path: "inputSchema.patternProperties.^a.x-mcp-header"},
		{name: "§3.8 additional properties", in: `{"additionalProperties":{"type":"string","x-mcp-header":"A"}}`, path: "inputSchema.additionalProperties.x-mcp-header"},
		{name: "in another spelling", in: `{"properties":{"a":{"type":"number","x\u002dmcp-header":"A"}}}`, path: p + "a.x-mcp-header"},
		{
			name: "legal ones beside an illegal one", in: `{"x-mcp-header":"R","properties":{"a":{"type":"string","x-mcp-header":"A"}}}`,
			legal: []ext2026.ParamHeader{{Name: "A", Path: []string{"a"}}}, path: "inputSchema.x-mcp-header",
		},
		{name: "too deep", in: wire.Value(deep), path: "inputSchema" + strings.Repeat(".properties.a", 65)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			legal, err := ext2026.FindParamHeaders(tt.in)
			checkPath(t, err, tt.path)
			if diff := cmp.Diff(tt.legal, legal); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

// The names that lead to siblings must not share memory.
func TestFindParamHeadersKeepsPathsApart(t *testing.T) {
	t.Parallel()
	legal, err := ext2026.FindParamHeaders(`{"properties":{"a":{"properties":{"b":{"properties":{"c":{"properties":{` +
		`"d":{"type":"string","x-mcp-header":"D"},"e":{"type":"string","x-mcp-header":"E"}}},"f":{"type":"string","x-mcp-header":"F"}}}}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []ext2026.ParamHeader{
		{Name: "D", Path: []string{"a", "b", "c", "d"}}, {Name: "E", Path: []string{"a", "b", "c", "e"}}, {Name: "F", Path: []string{"a", "b", "f"}},
	}
	if diff := cmp.Diff(want, legal); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
