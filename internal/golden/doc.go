// Package golden reads and writes golden files: txtar archives with a prose
// header and named sections, one file per case, both dialects on one screen.
//
// The format only. It knows nothing about tests, so that commands which record
// and replay conversations share it with the test runner in
// golden/goldentest; it must never import testing, and never changes a byte of
// a section's body.
//
// A golden file is canonical: Format(Parse(data)) equals data. What is not
// canonical (a marker with other spacing, CRLF markers, no final newline) is
// refused when it is read, so rewriting some sections of a file leaves every
// other byte of it alone.
//
// Format: golang.org/x/tools/txtar. Layout: testdata/golden/README.md.
package golden
