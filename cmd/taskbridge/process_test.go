package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asCommand makes the test binary behave as the command itself, so that
// processes can be killed for real.
const asCommand = "TASKBRIDGE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	m.Run()
}

// process is a running command and the first line it printed that holds a URL.
type process struct {
	cmd *exec.Cmd
	url string
}

func launch(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		for _, word := range strings.Fields(lines.Text()) {
			if strings.HasPrefix(word, "http://") {
				p.url = word
				go func() { _, _ = io.Copy(io.Discard, out) }()
				return p
			}
		}
	}
	t.Fatalf("taskbridge %v printed no URL: %s", args, stderr.String())
	return nil
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
