//go:build unix

package readme

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// command prepares a program in a process group of its own, so that what it
// starts can be signalled with it. When ctx ends, the whole group is killed.
func command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // running what the document says is the purpose
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func killGroup(cmd *exec.Cmd) {
	// It fails only if nothing of the group is left.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

func interruptGroup(cmd *exec.Cmd) error {
	return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
}
