//go:build unix

package adapter

import "syscall"

// maxFiles is how many files the process may have open, or 0 where that is not known.
func maxFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	const most = 1 << 30                     // "infinity" is a number, too
	return int(min(uint64(limit.Cur), most)) //nolint:gosec,unconvert // bounded; its type differs by system
}
