// Command cmd changes packages one small part at a time and runs their tests on
// each change; see package mutate.
//
//	go run ./internal/mutate/cmd [flags] PACKAGE ...
//
// It prints the survivors as file:line:column, and exits with 1 if there is one
// that the allow list does not name, or if the list names one that is none. It
// is a tool of this repository and never shipped.
package main
