package readme

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// grace is how long a server may take to stop after an interrupt.
const grace = 30 * time.Second

// server is a block that runs in the background.
type server struct {
	step   Step
	cmd    *exec.Cmd
	cancel context.CancelFunc
	exited chan struct{} // closed when err is set
	err    error

	mu     sync.Mutex
	output strings.Builder
	wrote  chan struct{} // holds a token when there is new output
}

// Write collects what the server prints.
func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.wrote <- struct{}{}:
	default:
	}
	return s.output.Write(p)
}

func (s *server) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// startServer starts a block and waits until it has printed its expected lines.
func startServer(ctx context.Context, step Step, work string, env []string) (*server, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{step: step, cancel: cancel, exited: make(chan struct{}), wrote: make(chan struct{}, 1)}
	s.cmd = command(ctx, work, env, "bash", "--noprofile", "--norc", "-c", step.Script)
	s.cmd.Stdout, s.cmd.Stderr = s, s
	if err := s.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.exited)
	}()
	deadline := time.NewTimer(step.Timeout)
	defer deadline.Stop()
	for {
		select {
		case <-s.wrote:
			if step.Want.MatchesLines(s.printed()) {
				return s, nil
			}
		case <-s.exited:
			cancel()
			return nil, fmt.Errorf("the server ended before it was ready: %w\n%s", orExited(s.err), compare(step.Want.Text, s.printed()))
		case <-deadline.C:
			s.kill()
			return nil, fmt.Errorf("the server was not ready after %s\n%s", step.Timeout, compare(step.Want.Text, s.printed()))
		}
	}
}

// stop interrupts the server and returns an error unless it exits with 0.
func (s *server) stop() error {
	select {
	case <-s.exited:
		s.cancel()
		return s.endedByItself()
	default:
	}
	if err := interruptGroup(s.cmd); err != nil {
		s.kill() // it fails only if nothing is left to interrupt
		return s.endedByItself()
	}
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	select {
	case <-s.exited:
		s.cancel()
		if s.err != nil && !s.goRunOnly() {
			return fmt.Errorf("the server was interrupted and ended with: %w\n%s", s.err, s.printed())
		}
		return nil
	case <-deadline.C:
		s.kill()
		return fmt.Errorf("the server did not end within %s of an interrupt\n%s", grace, s.printed())
	}
}

func (s *server) endedByItself() error {
	return fmt.Errorf("the server ended by itself: %w\n%s", orExited(s.err), s.printed())
}

// goRunStatus is what go run prints about a program that did not exit with 0.
var goRunStatus = regexp.MustCompile(`(?m)^(exit status \d+|signal: .*)$`)

// goRunOnly reports whether the status is go run's own: interrupted, it exits
// with 1 even if the program it ran exits with 0.
func (s *server) goRunOnly() bool {
	var exit *exec.ExitError
	return errors.As(s.err, &exit) && exit.ExitCode() == 1 &&
		strings.Contains(s.step.Script, "go run ") && !goRunStatus.MatchString(s.printed())
}

func (s *server) kill() {
	killGroup(s.cmd)
	s.cancel()
	<-s.exited
}

func orExited(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}
