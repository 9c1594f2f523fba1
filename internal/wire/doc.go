// Package wire reads and writes raw JSON without bending it.
//
// A message is checked once, strictly, with [Check]. From then on it is a
// [Value]: the exact text the peer sent. Everything else in the bridge looks at
// a Value through views ([Object], [Member]) that point into that text, and
// builds new messages by splicing pieces of it with a [Writer]. Numbers keep
// their digits, members their order and unknown members their bytes.
//
// The package must never reinterpret user data: it does not decode numbers into
// floats, does not reorder and does not "mend" input. It knows no method and no
// era; the few constants in names.go are the tokens that both eras, or an edge
// that refuses the other era, have to recognise.
//
// Rules: PROTOCOL.md G-2, G-3 and "Strictness".
package wire
