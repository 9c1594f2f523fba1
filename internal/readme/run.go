package readme

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A Runner runs the steps of one document.
type Runner struct {
	// Path is the document; commands run in its directory.
	Path string
	// Tests chooses the test blocks and nothing else.
	Tests bool
	// Log gets a line for each step, and what test blocks print.
	Log io.Writer
}

// errNoSteps keeps a document that lost its markers from passing.
var errNoSteps = errors.New("no block to run")

// Run runs the document and returns the first failure, which names the line.
// Servers and shells are gone when it returns.
func (r *Runner) Run(ctx context.Context) error {
	text, err := os.ReadFile(r.Path)
	if err != nil {
		return err
	}
	steps, err := Parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	scratch, err := os.MkdirTemp("", "readme-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // scratch files of a run that is over
	work, err := filepath.Abs(filepath.Dir(r.Path))
	if err != nil {
		return err
	}
	session := &session{
		runner: r, work: work, scratch: scratch,
		// A reader's own state directory is neither used nor in the way.
		env: append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(scratch, "state")),
	}
	return session.run(ctx, steps)
}

// session is what lasts from one step to the next.
type session struct {
	runner        *Runner
	work, scratch string
	env           []string
	shell         *shell
	cancelShell   context.CancelFunc
	server        *server
}

func (s *session) run(ctx context.Context, steps []Step) (err error) {
	defer func() {
		if s.shell != nil {
			s.cancelShell()
			s.shell.stop()
		}
		err = errors.Join(err, s.stopServer())
	}()
	done := 0
	for _, step := range steps {
		if s.runner.Tests != (step.Verb == Test) {
			continue
		}
		if step.Verb == Skip {
			s.log(step, "skipped: "+step.Reason)
			continue
		}
		if err := s.step(ctx, step); err != nil {
			return fmt.Errorf("%s:%d: ci: %s: %w", s.runner.Path, step.Line, step.Verb, err)
		}
		s.log(step, "ok")
		done++
	}
	if done == 0 {
		return fmt.Errorf("%s: %w", s.runner.Path, errNoSteps)
	}
	return nil
}

func (s *session) log(step Step, verdict string) {
	_, _ = fmt.Fprintf(s.runner.Log, "%s:%d: %s %s\n", s.runner.Path, step.Line, step.Verb, verdict) // progress only
}

func (s *session) step(ctx context.Context, step Step) error {
	switch step.Verb {
	case Serve:
		if err := s.stopServer(); err != nil {
			return err
		}
		server, err := startServer(ctx, step, s.work, s.env)
		s.server = server
		return err
	case Test:
		return s.test(ctx, step)
	case Run:
		return s.block(ctx, step)
	case Skip, Example:
	}
	return fmt.Errorf("verb %q is not run", step.Verb)
}

// stopServer stops the server that runs, if any.
func (s *session) stopServer() error {
	if s.server == nil {
		return nil
	}
	running := s.server
	s.server = nil
	if err := running.stop(); err != nil {
		return fmt.Errorf("%s:%d: %w", s.runner.Path, running.step.Line, err)
	}
	return nil
}

func (s *session) test(ctx context.Context, step Step) error {
	ctx, cancel := context.WithTimeout(ctx, step.Timeout)
	defer cancel()
	cmd := command(ctx, s.work, s.env, "bash", "--noprofile", "--norc", "-e", "-c", step.Script)
	cmd.Stdout, cmd.Stderr = s.runner.Log, s.runner.Log
	return cmd.Run()
}

func (s *session) block(ctx context.Context, step Step) error {
	if s.shell == nil {
		shellCtx, cancel := context.WithCancel(ctx)
		shell, err := startShell(shellCtx, s.work, s.scratch, s.env)
		if err != nil {
			cancel()
			return err
		}
		s.shell, s.cancelShell = shell, cancel
	}
	ctx, cancel := context.WithTimeout(ctx, step.Timeout)
	defer cancel()
	// A block that takes too long is ended by killing the shell it runs in.
	release := context.AfterFunc(ctx, s.cancelShell)
	output, status, err := s.shell.run(step.Script)
	if !release() && ctx.Err() != nil {
		return fmt.Errorf("not done after %s: %w; it printed:\n%s", step.Timeout, ctx.Err(), output)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w; it printed:\n%s", err, output)
	case status != step.Exit:
		return fmt.Errorf("exit status %d, want %d; it printed:\n%s", status, step.Exit, output)
	case step.Want != nil && !step.Want.Matches(output):
		return fmt.Errorf("line %d says it prints something else\n%s", step.Want.Line, compare(step.Want.Text, output))
	}
	return nil
}

func compare(want, got string) string {
	return "--- expected\n" + want + "--- printed\n" + tidy(got)
}
