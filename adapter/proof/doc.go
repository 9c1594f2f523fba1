// Package proof knows which credentials a backend has accepted lately.
//
// A backend that is shown its callers' credentials judges them with every request.
// What the bridge holds for a caller, it serves without asking the backend; so it has
// to know that the backend would still take the credential. Whatever the backend
// answers in the affirmative proves that for [Fresh], and a refusal ends it at once;
// where nothing was asked for longer, one cheap request is made for all who wait.
//
// The package never keeps a credential, only a hash of it, and never takes silence, or
// an answer that says nothing of the credential, for acceptance.
//
// Rules: DESIGN "Principal", PROTOCOL.md A-L17.
package proof
