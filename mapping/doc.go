// Package mapping translates between MCP 2025-11-25 (legacy) and MCP 2026-07-28
// with the tasks extension (modern).
//
// Every function is pure: bytes in, bytes out, no context, clock or I/O;
// instants and ids arrive as arguments. One file holds both directions of a
// method: AppendUp… translates from legacy to modern, AppendDown… from modern
// to legacy, and both append to the caller's buffer by splicing, so that
// whatever no rule names is copied as it came.
//
// Loss is in the signature: what is tolerated comes back as [Notes], what is
// impossible as an *[Error]. table.go lists every method and notification of
// both eras with its verdict.
//
// Authority: PROTOCOL rules §2 to §4 and §6, cited as A-…, B-… and G-….
package mapping
