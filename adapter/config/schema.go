package config

import (
	"encoding/json"
	"maps"
)

// jsonSchema is a JSON Schema or a part of one.
type jsonSchema map[string]any

// orVariable returns the schema of a scalar that may also be written with
// ${NAME}.
func (s jsonSchema) orVariable() jsonSchema {
	out := maps.Clone(s)
	if out["type"] == "string" && out["pattern"] == nil && out["enum"] == nil && out["minLength"] == 1 {
		return out
	}
	return jsonSchema{"anyOf": []jsonSchema{out, {"type": "string", "pattern": `\$\{`}}}
}

// schemaDefault renders a default for the schema: a list as a list, a number
// or truth value as such.
func schemaDefault(s shape, def string) any {
	if s.outer() == formList {
		items := []string{}
		if n := new(decoder).textNode(s, def, source{rank: 1}); n != nil {
			for _, item := range n.items {
				items = append(items, item.text)
			}
		}
		return items
	}
	var v any
	if err := json.Unmarshal([]byte(def), &v); err == nil {
		return v
	}
	return def
}

// Schema returns the JSON Schema (draft 2020-12) of the configuration file,
// indented, with a final newline. Keys and values that this version does not
// support yet are part of the format; the key's description says so.
func Schema() ([]byte, error) {
	s := table.schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "taskbridge configuration"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}
