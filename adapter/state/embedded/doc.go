// Package embedded keeps state in one SQLite file that one process owns, or in
// memory. It is the default store of the bridge (DESIGN.md §4).
//
// All writes go through one goroutine that takes whatever is waiting, applies it
// in one transaction and acknowledges each write only after the commit, which in
// WAL mode with synchronous=FULL means after the disk has it. Under load many
// writes thus share one flush. Reads have connections of their own and never
// wait for writers.
//
// The package must never acknowledge a write before its commit, let the failed
// condition of one write disturb the others of its group, or serve an expired
// record because nobody has swept it yet.
//
// SQLite: https://www.sqlite.org/wal.html and
// https://www.sqlite.org/pragma.html#pragma_synchronous.
package embedded
