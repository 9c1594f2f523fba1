//go:build !unix

package adapter

// maxFiles is how many files the process may have open, or 0 where that is not known.
func maxFiles() int { return 0 }
