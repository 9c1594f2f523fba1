// Command taskbridge connects MCP clients and servers of two eras: 2025-11-25
// and 2026-07-28 with the tasks extension.
//
// This package holds the commands and nothing else: it reads flags and
// variables, hands a checked configuration to package adapter, prints what is
// ready, and turns errors into exit codes. It must never look at a message.
package main
