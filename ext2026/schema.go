package ext2026

// SchemaForm says what the value of a JSON Schema keyword holds.
type SchemaForm uint8

// The forms of a keyword's value.
const (
	// SchemaNone: no schemas; the value is data or an unknown keyword's.
	SchemaNone SchemaForm = iota
	// SchemaOne: a schema.
	SchemaOne
	// SchemaMany: an array of schemas.
	SchemaMany
	// SchemaEither: a schema, or in older dialects an array of schemas.
	SchemaEither
	// SchemaMap: an object whose members are schemas.
	SchemaMap
)

// MaxSchemaDepth bounds how deep schemas are looked into. The cost of a look is
// the product of depth and size, so that a hostile schema stays cheap.
const MaxSchemaDepth = 64

// SchemaKeyword returns the form of a keyword of JSON Schema 2020-12 or draft 7.
// Only there do schemas stand inside a schema: what other keywords hold, such as
// const, enum, default and examples, is data.
func SchemaKeyword(name string) SchemaForm {
	switch name {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return SchemaMap
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return SchemaMany
	case "items":
		return SchemaEither
	case "additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems", "contains",
		"propertyNames", "not", "if", "then", "else", "contentSchema":
		return SchemaOne
	default:
		return SchemaNone
	}
}
