// Package deptest holds the rules of this repository that a compiler does not
// check, each as a function that returns what breaks it: which package may
// import which, sizes of files and functions, comments, paths named in the
// documentation, words that do not belong in a public tree.
//
// The rules themselves stand in table.go; the tests run them over the whole
// module and prove on small fixtures that each can fail.
//
// It must never change a file, and imports nothing of the module: it looks at
// the module from outside.
package deptest
