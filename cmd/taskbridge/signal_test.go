//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// stubbornChild is set in the process that TestSignals starts.
const stubbornChild = "TASKBRIDGE_TEST_STUBBORN"

// stubborn says when it was asked to end, and then does so or does not.
type stubborn struct {
	ready  func([]string)
	length string
}

func (s stubborn) Run(ctx context.Context) error {
	s.ready([]string{"up"})
	<-ctx.Done()
	s.ready([]string{"draining"})
	if s.length == "ever" {
		select {}
	}
	return nil
}

// TestStubbornChild is the program of TestSignals, not a test.
func TestStubbornChild(t *testing.T) {
	length := os.Getenv(stubbornChild)
	if length == "" {
		t.Skip("only runs as a child of TestSignals")
	}
	a := &app{
		out: os.Stdout, err: os.Stderr, lookupEnv: os.LookupEnv,
		open: func(_ context.Context, _ *config.Config, _ *slog.Logger, ready func([]string)) (runner, error) {
			return stubborn{ready, length}, nil
		},
	}
	code := a.run(untilSignal(t.Context()), []string{"serve", "--demo", "--store", "memory:"}, strings.NewReader(""))
	if code != exitFine {
		t.Errorf("code %d", code)
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		length  string
		signals []syscall.Signal
		want    string // how the process ends
	}{
		{"an interrupt ends gracefully", "once", []syscall.Signal{syscall.SIGINT}, ""},
		{"SIGTERM ends gracefully", "once", []syscall.Signal{syscall.SIGTERM}, ""},
		{"a second signal ends at once", "ever", []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}, "signal: interrupt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStubbornChild$")
			cmd.Env = append(os.Environ(), stubbornChild+"="+tt.length)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for i, want := range []string{"up", "draining"} {
				if !lines.Scan() || lines.Text() != want {
					t.Fatalf("line %q, want %q", lines.Text(), want)
				}
				if i < len(tt.signals) {
					if err := cmd.Process.Signal(tt.signals[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			var exit *exec.ExitError
			switch {
			case err == nil && tt.want == "":
			case errors.As(err, &exit) && exit.String() == tt.want:
			default:
				t.Errorf("ended with %v, want %q", err, tt.want)
			}
		})
	}
}
