// Package faultnet breaks one message on its way between an HTTP client and an HTTP
// server: it is cut, delayed, repeated, overtaken or shortened, and everything else
// passes as it is. Tests find out with it what becomes of a fault.
//
// A [Proxy] stands on one leg. It reads what passes: HTTP/1.1 requests, responses,
// and on event streams single events, which are what can be hit. The messages of a
// leg are numbered as they come, in each direction from 1, so that a run without a
// fault tells what there is to hit. Blank events, which are heartbeats, and the ends
// of streams are passed on but not numbered.
//
// It works over any connections, also those of internal/memnet in fake time. It must
// never serve outside tests, and it knows nothing about MCP.
package faultnet
