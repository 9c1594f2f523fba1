// Package ext2026 is the wire of MCP 2026-07-28 with the extension
// io.modelcontextprotocol/tasks: names, views that read and validate each
// message, and the headers that mirror a request.
//
// A view points into the received text. It decodes the members it names, keeps
// all others as they came, and says with a field path what is wrong. The
// package knows nothing of any other revision; it must never import
// legacy2025, and never drops or rewrites a member.
//
// Spec: https://modelcontextprotocol.io/specification/2026-07-28 and
// https://github.com/modelcontextprotocol/ext-tasks
package ext2026
