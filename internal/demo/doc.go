// Package demo holds small, real MCP servers to try the bridge with: what
// "serve --demo" offers in process, and "demo modern" and "demo legacy" offer as
// processes of their own.
//
// What the tools, prompts and resources do is written once and knows no
// protocol (tools*.go, content.go, jobs.go); how an era carries them is in the
// files named after it (modern*.go: revision 2026-07-28 with the extension
// io.modelcontextprotocol/tasks; legacy*.go: revision 2025-11-25 with its tasks,
// and the two before it).
//
// The servers are independent counterparts of the bridge: a mistake the bridge
// makes must show here, not cancel out. So this package reads and writes the
// wire with the standard library alone and must never import mapping, adapter
// or the wire packages of either era.
//
// Specifications:
// https://modelcontextprotocol.io/specification/2025-11-25,
// https://modelcontextprotocol.io/specification/2026-07-28 and
// https://github.com/modelcontextprotocol/ext-tasks.
package demo
