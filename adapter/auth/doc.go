// Package auth finds out who calls, where the bridge itself can tell: it verifies
// tokens against the key set of one issuer (configuration key auth), and names the
// authorization servers where a client gets one (RFC 9728).
//
// A token counts only if an asymmetric signature of a key in the set is good, the
// issuer is exactly the configured one, the audience is the bridge's, the subject is
// there, and now lies in its time. Without keys nothing is accepted: that a key set
// cannot be reached is an error of its own, [ErrUnavailable], and never a verdict.
//
// The package must never put a token, a claim or a key into a log or an error, never
// follow a redirect, never ask the issuer as often as callers like, and never read an
// answer without a bound.
//
// Rules: DESIGN "Principal" and "Credentials", PROTOCOL.md A-L17; RFC 9068, RFC 8725
// and RFC 6750 for tokens, RFC 9728 for metadata.
package auth
