//go:build unix

package embedded

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestUnlockDespiteACopy: a process that is being started has a copy of every
// open file for a moment. The lock must be free all the same.
func TestUnlockDespiteACopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	file, err := lockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := unlockFile(file); err != nil {
		t.Fatal(err)
	}
	again, err := lockFile(path)
	if err != nil {
		t.Fatalf("the lock is still held: %v", err)
	}
	if err := unlockFile(again); err != nil {
		t.Error(err)
	}
	if err := syscall.Close(child); err != nil {
		t.Error(err)
	}
}
