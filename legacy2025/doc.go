// Package legacy2025 is the wire of MCP 2025-11-25, with what the bridge needs
// of 2025-06-18 and 2025-03-26: names, and views that read and validate each
// message.
//
// A view points into the received text. It decodes the members it names, keeps
// all others as they came, and says with a field path what is wrong. The
// package knows nothing of any other revision; it must never import ext2026,
// and never drops or rewrites a member.
//
// Spec: https://modelcontextprotocol.io/specification/2025-11-25
package legacy2025
