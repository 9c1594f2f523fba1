// Package seal makes tokens that only the bridge can read: task handles, list
// cursors and whatever else a client carries for it.
//
// A token is authenticated encryption (XChaCha20-Poly1305) over a small payload,
// bound to a purpose, so that one kind of token never opens as another. It names
// the key it was made with: the newest secret seals, older ones still open. All
// keys are derived (HKDF-SHA256) from secrets of at least 16 bytes.
//
// The package also keys the hashes under which the store knows principals,
// sessions and credentials.
//
// It must never tell why a token does not open: every failure is [ErrInvalid].
//
// Rules: DESIGN "State", PROTOCOL.md A-H1, A-S2, §4.23.
package seal
