package mapping_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// inputSchemas are input schemas of modern tools and what a legacy client gets.
var inputSchemas = []struct {
	name  string
	in    wire.Value
	want  string
	notes mapping.Notes
}{
	{
		name: "nothing to do, nothing done", in: `{ "type":"object", "properties" : {"a": {"type":"number"}}, "additionalProperties" : false }`,
		want: `{ "type":"object", "properties" : {"a": {"type":"number"}}, "additionalProperties" : false }`,
	},
	{
		name: "A18 annotations go", in: `{"type":"object","properties":{"site":{"type":"string","x-mcp-header":"Site"},"depth":{"type":"integer"}}}`,
		want: `{"type":"object","properties":{"site":{"type":"string"},"depth":{"type":"integer"}}}`, notes: notesOf(mapping.NoteHeaderAnnotation),
	},
	{
		name:  "§3.8 at any depth and in any spelling",
		in:    `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"x\u002dmcp-header":"B","type":"boolean","description":"d"}}}}}`,
		want:  `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"boolean","description":"d"}}}}}`,
		notes: notesOf(mapping.NoteHeaderAnnotation),
	},
	{
		name: "§6.3 a property of that name and data are the user's",
		in: `{"type":"object","properties":{"x-mcp-header":{"type":"string","default":{"x-mcp-header":"D"},"enum":[{"x-mcp-header":"E"}],"const":{"x-mcp-header":1}}},` +
			`"x-acme":{"x-mcp-header":"V"},"required":["x-mcp-header"],"examples":[{"x-mcp-header":"X"}]}`,
		want: `{"type":"object","properties":{"x-mcp-header":{"type":"string","default":{"x-mcp-header":"D"},"enum":[{"x-mcp-header":"E"}],"const":{"x-mcp-header":1}}},` +
			`"x-acme":{"x-mcp-header":"V"},"required":["x-mcp-header"],"examples":[{"x-mcp-header":"X"}]}`,
	},
	{
		name: "§3.7 boolean subschemas",
		in: `{"type":"object","properties":{"a":true,"b":false},"patternProperties":{"^x":true},"$defs":{"d":false},"dependentSchemas":{"a":true},` +
			`"allOf":[true,{"not":false}],"if":true,"then":{"items":true},"else":{"items":[true],"prefixItems":[false]},"contains":true,"propertyNames":false}`,
		want: `{"type":"object","properties":{"a":{},"b":{"not":{}}},"patternProperties":{"^x":{}},"$defs":{"d":{"not":{}}},"dependentSchemas":{"a":{}},` +
			`"allOf":[{},{"not":{"not":{}}}],"if":{},"then":{"items":{}},"else":{"items":[{}],"prefixItems":[{"not":{}}]},"contains":{},"propertyNames":{"not":{}}}`,
		notes: notesOf(mapping.NoteBooleanSchema),
	},
	{
		name: "§3.7 keywords that always took a boolean keep it",
		in:   `{"type":"object","additionalProperties":false,"unevaluatedProperties":false,"properties":{"a":{"items":{"additionalProperties":true},"additionalItems":false,"unevaluatedItems":true}}}`,
		want: `{"type":"object","additionalProperties":false,"unevaluatedProperties":false,"properties":{"a":{"items":{"additionalProperties":true},"additionalItems":false,"unevaluatedItems":true}}}`,
	},
	{
		name:  "§3.7 their subschemas are looked into",
		in:    `{"type":"object","additionalProperties":{"properties":{"a":true}}}`,
		want:  `{"type":"object","additionalProperties":{"properties":{"a":{}}}}`,
		notes: notesOf(mapping.NoteBooleanSchema),
	},
	{
		name: "§3.7 booleans that are data stay", in: `{"type":"object","deprecated":true,"properties":{"a":{"default":true,"enum":[true],"const":false,"uniqueItems":true}}}`,
		want: `{"type":"object","deprecated":true,"properties":{"a":{"default":true,"enum":[true],"const":false,"uniqueItems":true}}}`,
	},
	{
		name: "§3.7 the root gets its type", in: `{"properties":{"n":{"maximum":1e-07}}}`,
		want: `{"type":"object","properties":{"n":{"maximum":1e-07}}}`, notes: notesOf(mapping.NoteRootType),
	},
	{name: "§3.7 an empty root", in: `{}`, want: `{"type":"object"}`, notes: notesOf(mapping.NoteRootType)},
	{
		name: "keywords of the wrong kind are copied", in: `{"type":"object","properties":[true],"allOf":{"a":1},"items":3,"$defs":true}`,
		want: `{"type":"object","properties":[true],"allOf":{"a":1},"items":3,"$defs":true}`,
	},
	{
		name: "they are copied beside what is rewritten", in: `{"type":"object","properties":{"a":true},"allOf":{"a":1},"items":3,"$defs":true}`,
		want: `{"type":"object","properties":{"a":{}},"allOf":{"a":1},"items":3,"$defs":true}`, notes: notesOf(mapping.NoteBooleanSchema),
	},
	{
		name: "what is too deep to look into is copied", in: `{"type":"object","properties":{"a":true},"items":` + nested(`{"items":`, `true`, `}`) + `}`,
		want: `{"type":"object","properties":{"a":{}},"items":` + string(nested(`{"items":`, `true`, `}`)) + `}`, notes: notesOf(mapping.NoteBooleanSchema),
	},
}

// nested is a schema deeper than any that is looked into.
func nested(before, innermost, after string) wire.Value {
	const depth = ext2026.MaxSchemaDepth + 6
	return wire.Value(strings.Repeat(before, depth) + innermost + strings.Repeat(after, depth))
}

func TestAppendDownInputSchema(t *testing.T) {
	t.Parallel()
	for _, tt := range inputSchemas {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes := mapping.AppendDownInputSchema([]byte(prefix), tt.in)
			checkOut(t, got, notes, nil, tt.want, tt.notes)
		})
	}
}

var outputWrapped = notesOf(mapping.NoteOutputWrapped)

// outputSchemas are output schemas of modern tools and what a legacy client gets.
var outputSchemas = []struct {
	name  string
	in    wire.Value
	want  string // empty: omitted
	plain bool   // not wrapped
	notes mapping.Notes
}{
	{
		name: "an object stays", in: `{ "type":"object","$defs":{"a":{}},"properties":{"x":{"$ref":"#/$defs/a"}} }`, plain: true,
		want: `{ "type":"object","$defs":{"a":{}},"properties":{"x":{"$ref":"#/$defs/a"}} }`,
	},
	{
		name: "§3.7 a boolean property of an object", in: `{"type":"object","properties":{"x":true}}`, plain: true,
		want: `{"type":"object","properties":{"x":{}}}`, notes: notesOf(mapping.NoteBooleanSchema),
	},
	{
		name: "§3.8 annotations mean nothing in an output", in: `{"type":"object","properties":{"x":{"x-mcp-header":"X"}}}`, plain: true,
		want: `{"type":"object","properties":{"x":{"x-mcp-header":"X"}}}`,
	},
	{
		name:  "A21 an array is wrapped and its references follow",
		in:    `{"type":"array","items":{"$ref":"#/$defs/g"},"$defs":{"g":{"type":"number"}}}`,
		want:  `{"type":"object","properties":{"result":{"type":"array","items":{"$ref":"#/properties/result/$defs/g"},"$defs":{"g":{"type":"number"}}}},"required":["result"]}`,
		notes: outputWrapped,
	},
	{
		name: "§3.7 no type is no object", in: `{"oneOf":[{"type":"object"},{"type":"null"}]}`,
		want: `{"type":"object","properties":{"result":{"oneOf":[{"type":"object"},{"type":"null"}]}},"required":["result"]}`, notes: outputWrapped,
	},
	{
		name: "§3.7 a list of types is no object", in: `{"type":["object","null"]}`,
		want: `{"type":"object","properties":{"result":{"type":["object","null"]}},"required":["result"]}`, notes: outputWrapped,
	},
	{
		name: "§3.7 $schema moves to the root, a reference to the root is moved", in: `{"$schema":"https://json-schema.org/draft/2020-12/schema","anyOf":[{"type":"string"},{"items":{"$ref":"#"}}]}`,
		want: `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"result":{"anyOf":[{"type":"string"},{"items":{"$ref":"#/properties/result"}}]}},"required":["result"]}`, notes: outputWrapped,
	},
	{
		name: "§3.7 a boolean root", in: `true`,
		want: `{"type":"object","properties":{"result":{}},"required":["result"]}`, notes: outputWrapped | notesOf(mapping.NoteBooleanSchema),
	},
	{
		name: "§3.7 absolute references stay", in: `{"items":{"$ref":"https://x.example/s.json#/a"}}`,
		want: `{"type":"object","properties":{"result":{"items":{"$ref":"https://x.example/s.json#/a"}}},"required":["result"]}`, notes: outputWrapped,
	},
	{
		name: "§3.7 a reference in data is data", in: `{"const":{"$ref":"#/a"},"default":{"$anchor":"a"}}`,
		want: `{"type":"object","properties":{"result":{"const":{"$ref":"#/a"},"default":{"$anchor":"a"}}},"required":["result"]}`, notes: outputWrapped,
	},
	{
		name: "§3.7 a reference in another spelling", in: `{"items":{"\u0024ref":"\u0023/a\"b"}}`,
		want: `{"type":"object","properties":{"result":{"items":{"\u0024ref":"#/properties/result/a\"b"}}},"required":["result"]}`, notes: outputWrapped,
	},
	{
		name: "§3.7 an $id without references does no harm", in: `{"$id":"https://x.example/s","type":"string"}`,
		want: `{"type":"object","properties":{"result":{"$id":"https://x.example/s","type":"string"}},"required":["result"]}`, notes: outputWrapped,
	},
	{
		name: "§3.7 an $id that is no string is none", in: `{"$id":7,"items":{"$ref":"#/$defs/a"}}`,
		want: `{"type":"object","properties":{"result":{"$id":7,"items":{"$ref":"#/properties/result/$defs/a"}}},"required":["result"]}`, notes: outputWrapped,
	},
	{name: "§3.7 references below an $id", in: `{"$id":"https://x.example/s","items":{"$ref":"#/$defs/a"}}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "§3.7 relative reference", in: `{"items":{"$ref":"other.json"}}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "§3.7 relative reference with a colon in its path", in: `{"items":{"$ref":"a/b:c"}}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "§3.7 reference to an anchor", in: `{"items":{"$ref":"#a"}}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "§3.7 anchor", in: `{"items":{"$anchor":"a"}}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "§3.7 dynamic anchor", in: `{"$dynamicAnchor":"a"}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "§3.7 dynamic reference", in: `{"items":{"$dynamicRef":"#a"}}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "§3.7 recursive anchor of older dialects", in: `{"items":{"$recursiveAnchor":true}}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "§3.7 recursive reference of older dialects", in: `{"items":{"$recursiveRef":"#"}}`, notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "too deep to look into", in: nested(`{"items":`, `{}`, `}`), notes: notesOf(mapping.NoteOutputOmitted)},
	{name: "too deep by properties", in: nested(`{"properties":{"a":`, `{}`, `}}`), notes: notesOf(mapping.NoteOutputOmitted)},
}

func TestAppendDownOutputSchema(t *testing.T) {
	t.Parallel()
	for _, tt := range outputSchemas {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, isWrapped, ok, notes := mapping.AppendDownOutputSchema([]byte(prefix), tt.in)
			checkOut(t, got, notes, nil, tt.want, tt.notes)
			if ok != (tt.want != "") || isWrapped == tt.plain {
				t.Errorf("wrapped %v, ok %v", isWrapped, ok)
			}
		})
	}
}

func TestAppendUpInputSchema(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		in    wire.Value
		want  string
		notes mapping.Notes
	}{
		{
			name: "Q15 legal annotations stay", in: `{ "type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}} }`,
			want: `{ "type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}} }`,
		},
		{
			name: "B03 an illegal one goes", in: `{"type":"object","properties":{"d":{"type":"number","x-mcp-header":"Depth"}}}`,
			want: `{"type":"object","properties":{"d":{"type":"number"}}}`, notes: notesOf(mapping.NoteHeaderAnnotation),
		},
		{
			name: "§3.8 legal ones beside it stay",
			in: `{"x-mcp-header":"R","type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"},` +
				`"c":{"type":"array","items":{"type":"string","x-mcp-header":"C"}},"o":{"properties":{"a":{"type":"integer","x-mcp-header":"O"}}}}}`,
			want: `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string"},` +
				`"c":{"type":"array","items":{"type":"string"}},"o":{"properties":{"a":{"type":"integer","x-mcp-header":"O"}}}}}`,
			notes: notesOf(mapping.NoteHeaderAnnotation),
		},
		{
			name: "§3.3 schemas of the legacy era are fine as they are", in: `{"type":"object","properties":{"a":true},"items":[true]}`,
			want: `{"type":"object","properties":{"a":true},"items":[true]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			headers, _ := ext2026.FindParamHeaders(tt.in)
			got, notes := mapping.AppendUpInputSchema([]byte(prefix), tt.in, headers)
			checkOut(t, got, notes, nil, tt.want, tt.notes)
			if left, err := ext2026.FindParamHeaders(wire.Value(got[len(prefix):])); err != nil || len(left) != len(headers) {
				t.Errorf("afterwards %d headers, %v; want %d and no error", len(left), err, len(headers))
			}
		})
	}
}
