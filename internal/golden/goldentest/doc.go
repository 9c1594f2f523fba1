// Package goldentest runs golden files as tests and keeps them from rotting.
//
// A Suite says which files it runs, which of their sections are inputs and
// which outputs, and has a function that reads the ones and produces the
// others. The runner fails a case for
//
//   - a section the suite does not have, or one that is there twice;
//   - an input that nothing read;
//   - an output that is missing, differs by a byte, or is no longer produced;
//   - notes without a notes section, and a notes section without notes;
//   - an after_roundtrip section that equals its source, and a missing one
//     where the bytes differ;
//
// and a directory for files that no suite runs. With -update the output
// sections are rewritten and nothing else; -update is refused where CI is set.
//
// It compares bytes, never meaning: members out of order are a difference. It
// is imported by tests only.
package goldentest
