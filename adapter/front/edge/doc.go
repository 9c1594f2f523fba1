// Package edge holds what every HTTP listener of the bridge does before
// anything else: it checks Host and Origin, answers CORS, reads a bounded body,
// and judges Accept and Content-Type. It also writes answers to clients that read
// slowly. It knows no era.
//
// Rules: DESIGN "Edges", PROTOCOL.md A-L14.
package edge
