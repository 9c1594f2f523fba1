// Package probe finds out which era a backend speaks and what it says of
// itself, and remembers both.
//
// [HTTP] asks once and reads the answer by the table of PROTOCOL.md §1.10; a
// [Cache] keeps the verdict of one backend (G-13), a [Discovery] its answers to
// server/discover for as long as it allows. A failure is never taken for an
// era: a backend that cannot be reached, or refuses the credential, gets no
// verdict. The package must never probe with a request that does anything
// (G-14).
package probe
