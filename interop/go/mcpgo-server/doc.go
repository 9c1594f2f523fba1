// mcpgo-server is a server of 2025-11-25 tasks on the REAL server of
// github.com/mark3labs/mcp-go. Everything on the wire is mcp-go's; this program
// only says what the tools do.
//
//	mcpgo-server [-listen ADDRESS]
package main
