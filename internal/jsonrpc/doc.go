// Package jsonrpc is the JSON-RPC 2.0 envelope as MCP uses it, over raw values.
//
// Ids are never parsed into numbers: 1, "1" and 9007199254740993 are different
// ids and come back digit for digit. The package reads and writes exactly the
// members jsonrpc, id, method, params, result and error, and refuses duplicates
// among them; other envelope members are dropped.
//
// Rules: PROTOCOL.md G-2, G-4, G-10 and "Strictness".
package jsonrpc
