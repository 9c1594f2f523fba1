// Command mcpgo-client runs flows with the REAL client of github.com/mark3labs/mcp-go
// against a server of 2025-11-25 tasks.
//
//	mcpgo-client URL FLOW[,FLOW...]|all -profile NAME [-profiles FILE]
//
// The profile says which tool stands for each flow on the server (behind
// URL). It prints one JSON verdict a flow, as the drivers beside it do:
// {client, server, flow, ok, notApplicable?, error?, ...evidence}. Exit 0 when
// every flow ran or has no tool, 1 when one broke off, 2 for a mistake in the
// command.
package main
