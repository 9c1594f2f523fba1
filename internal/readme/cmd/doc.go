// Command cmd runs the commands of Markdown documents and compares what they
// print with what the documents say; see package readme for the markers.
//
//	go run ./internal/readme/cmd [-test] README.md ...
//
// With -test it runs the test blocks only, and fails if there is none. It is a
// tool of this repository and never shipped.
package main
