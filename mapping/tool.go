package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// ToolFacts is what the bridge remembers of a modern tool beyond what a legacy
// client is told.
type ToolFacts struct {
	// Name is the tool's name.
	Name string
	// Headers are the arguments that a call mirrors into headers.
	Headers []ext2026.ParamHeader
	// Wrapped is true when the output schema was wrapped or omitted, so that
	// results have to be wrapped too (§3.7).
	Wrapped bool
}

// AppendDownToolsList appends a page of tools as a legacy client may see it, and
// returns the facts of the tools it tells of, in order.
//
// Spec: 2026-07-28 "Tool Definitions", "x-mcp-header"; 2025-11-25 "Tool". Rules
// §3.3, §3.7, §3.8, §3.9, §6.
// Loss: a tool with an illegal annotation, x-mcp-header, an output schema that
// cannot be wrapped, and what [AppendDownResult] loses; each sets a note.
func AppendDownToolsList(dst []byte, in ext2026.Result, opts ResultOptions) ([]byte, []ToolFacts, Notes, error) {
	return dst, nil, 0, nil
}

// ReadTools returns the facts of a page of tools without rendering it. Tools
// with an illegal annotation are left out, with a note.
func ReadTools(in ext2026.Result) ([]ToolFacts, Notes, error) {
	return nil, 0, nil
}

// LegacyToolFacts is what the bridge remembers of a legacy tool beyond what a
// modern client is told.
type LegacyToolFacts struct {
	// Name is the tool's name.
	Name string
	// TaskSupport says whether calls are augmented with a task (§4.19).
	TaskSupport legacy2025.TaskSupport
	// Headers are the arguments that the modern face checks against headers (Q15).
	Headers []ext2026.ParamHeader
}

// AppendUpToolsList appends a page of tools as a modern client may see it, and
// returns the facts of the tools, in order. A legal x-mcp-header stays in the
// schema; where one is illegal all of the tool's are removed and the tool stays
// (§3.8).
//
// Spec: 2025-11-25 "Tool"; 2026-07-28 "x-mcp-header". Rules §3.3, §3.8, §6.2.
// Loss: execution and illegal annotations, with a note.
func AppendUpToolsList(dst []byte, result wire.Value, opts UpResultOptions) ([]byte, []LegacyToolFacts, Notes, error) {
	return dst, nil, 0, nil
}
