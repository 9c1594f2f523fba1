//go:build !unix

package readme

import (
	"context"
	"errors"
	"os/exec"
)

// Without process groups there is no telling what a block left running.
func command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Err = errors.ErrUnsupported
	return cmd
}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func interruptGroup(*exec.Cmd) error { return errors.ErrUnsupported }
