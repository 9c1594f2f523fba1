package mutate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Config says what to change and which tests must notice.
type Config struct {
	// Dir is where the go command runs: in the module.
	Dir string
	// Packages are the patterns of the packages to change.
	Packages []string
	// Tests are the patterns of the packages whose tests must notice; none
	// means Packages.
	Tests []string
	// Ops are the kinds of change; none means all.
	Ops []Op
	// Match, if not nil, keeps only mutants whose String it matches.
	Match *regexp.Regexp
	// Parallel is how many mutants run at once; less than 1 means 1.
	Parallel int
	// Timeout is how long the tests of one mutant may take; 0 means ten times
	// what they take without a change, and ten seconds.
	Timeout time.Duration
	// Log gets the progress.
	Log io.Writer
}

// Verdict is what became of a mutant.
type Verdict string

// The verdicts.
const (
	Killed       Verdict = "killed"
	TimedOut     Verdict = "timed out"
	NotCompiled  Verdict = "not compiled"
	Survived     Verdict = "survived"
	notYetJudged Verdict = ""
)

// A Result is a mutant and its verdict.
type Result struct {
	*Mutant
	// Verdict is what became of it.
	Verdict Verdict
}

// Find lists the mutants without running any.
func Find(ctx context.Context, c Config) ([]*Mutant, error) {
	packages, err := load(ctx, c.Dir, c.Packages)
	if err != nil {
		return nil, err
	}
	ops := c.Ops
	if len(ops) == 0 {
		ops = Ops
	}
	for _, op := range ops {
		if !slices.Contains(Ops, op) {
			return nil, fmt.Errorf("unknown kind of change %q", op)
		}
	}
	var mutants []*Mutant
	next := 1
	for _, p := range packages {
		for _, m := range p.find(ops, &next) {
			if c.Match == nil || c.Match.MatchString(m.String()) {
				mutants = append(mutants, m)
			}
		}
	}
	if len(mutants) == 0 {
		return nil, errors.New("nothing to change")
	}
	return mutants, nil
}

// Run runs the tests on every mutant. Tests that fail without a change are an
// error.
func Run(ctx context.Context, c Config) ([]Result, error) {
	var err error
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return nil, err
	}
	mutants, err := Find(ctx, c)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // scratch files of a run that is over
	r := &runner{Config: c, scratch: scratch}
	if len(r.Tests) == 0 {
		r.Tests = r.Packages
	}
	if err := r.findTests(ctx); err != nil {
		return nil, err
	}
	if err := r.buildAll(ctx, mutants); err != nil {
		return nil, err
	}
	if err := r.baseline(ctx); err != nil {
		return nil, err
	}
	return r.judgeAll(ctx, mutants)
}

type runner struct {
	Config
	scratch string
	tests   []testPackage
}

type testPackage struct {
	importPath, dir string
	binary          string // with all switches
}

func (r *runner) findTests(ctx context.Context) error {
	out, err := goCommand(ctx, r.Dir, append([]string{
		"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}", "--",
	}, r.Tests...)...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			r.tests = append(r.tests, testPackage{importPath: path, dir: dir})
		}
	}
	if len(r.tests) == 0 {
		return errors.New("no tests")
	}
	return nil
}

// buildAll builds the binaries with all switches. A switch that the compiler
// refuses is left out, and its mutants are built by themselves later.
func (r *runner) buildAll(ctx context.Context, mutants []*Mutant) error {
	for try := 1; ; try++ {
		o, err := instrument(filepath.Join(r.scratch, "all-"+strconv.Itoa(try)), mutants)
		if err != nil {
			return err
		}
		var failed *buildError
		err = r.build(ctx, o, func(i int, binary string) { r.tests[i].binary = binary })
		if !errors.As(err, &failed) || try > 20 || !breakAt(mutants, failed.lines(o)) {
			return err
		}
	}
}

// build compiles the tests with an overlay.
func (r *runner) build(ctx context.Context, o *overlay, built func(i int, binary string)) error {
	flag, err := o.flag()
	if err != nil {
		return err
	}
	for i, t := range r.tests {
		binary := filepath.Join(o.dir, strconv.Itoa(i)+".test")
		// -e: all errors of a package, not just the first ten.
		_, err := goCommand(ctx, r.Dir, "test", "-c", "-vet=off", "-gcflags=-e", flag, "-o", binary, t.importPath)
		if err != nil {
			return &buildError{output: err.Error()}
		}
		built(i, binary)
	}
	return nil
}

type buildError struct{ output string }

func (e *buildError) Error() string { return e.output }

var compilerError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+)(?::\d+)?: `)

// lines returns the lines of the errors by the path of the original file; the
// compiler names what the overlay puts in its place.
func (e *buildError) lines(o *overlay) map[string][]int {
	original := map[string]string{}
	for path, replacement := range o.replace {
		original[replacement] = path
	}
	lines := map[string][]int{}
	for _, m := range compilerError.FindAllStringSubmatch(e.output, -1) {
		if n, err := strconv.Atoi(m[2]); err == nil {
			lines[original[m[1]]] = append(lines[original[m[1]]], n)
		}
	}
	return lines
}

// baseline runs the tests without a change: they must pass, and their time
// tells how long a mutant may take.
func (r *runner) baseline(ctx context.Context) error {
	start := time.Now()
	for _, t := range r.tests {
		cmd := r.command(ctx, t.dir, t.binary, 0, 10*time.Minute)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("tests of %s fail without a change: %w\n%s", t.importPath, err, out)
		}
	}
	took := time.Since(start)
	if r.Timeout == 0 {
		r.Timeout = 10*took + 10*time.Second
	}
	r.logf("tests without a change take %s; a mutant may take %s\n", took.Round(time.Millisecond), r.Timeout.Round(time.Second))
	return nil
}

// command prepares a test binary with one mutant on. Its memory is bounded: a
// negated loop condition may otherwise eat the machine before its time is up.
func (r *runner) command(ctx context.Context, dir, binary string, id int, timeout time.Duration) *exec.Cmd {
	args := []string{binary, "-test.failfast", "-test.timeout=" + timeout.String()}
	if runtime.GOOS != "windows" {
		args = append([]string{"sh", "-c", `ulimit -v 8388608; exec "$0" "$@"`}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // a binary this program built
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), switchVariable+"="+strconv.Itoa(id))
	cmd.WaitDelay = time.Second
	return cmd
}

func (r *runner) judgeAll(ctx context.Context, mutants []*Mutant) ([]Result, error) {
	results := make([]Result, len(mutants))
	todo := make(chan int)
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first error
		done  int
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range max(1, r.Parallel) {
		wait.Go(func() {
			for i := range todo {
				verdict, err := r.judge(ctx, mutants[i])
				results[i] = Result{Mutant: mutants[i], Verdict: verdict}
				mu.Lock()
				if err != nil && first == nil {
					first = err
					cancel()
				}
				if done++; done%100 == 0 {
					r.logf("%d of %d mutants\n", done, len(mutants))
				}
				mu.Unlock()
			}
		})
	}
	for i := range mutants {
		todo <- i
	}
	close(todo)
	wait.Wait()
	return results, first
}

func (r *runner) judge(ctx context.Context, m *Mutant) (Verdict, error) {
	if ctx.Err() != nil {
		return notYetJudged, ctx.Err()
	}
	binaries := make([]string, len(r.tests))
	for i, t := range r.tests {
		binaries[i] = t.binary
	}
	if !m.switched() {
		dir := filepath.Join(r.scratch, "mutant-"+strconv.Itoa(m.ID))
		defer os.RemoveAll(dir) //nolint:errcheck // scratch files; the whole scratch directory goes later
		o, err := newOverlay(dir)
		if err != nil {
			return notYetJudged, err
		}
		if err := o.put(m.file.path, withEdit(m.file.text, m.plain)); err != nil {
			return notYetJudged, err
		}
		var failed *buildError
		err = r.build(ctx, o, func(i int, binary string) { binaries[i] = binary })
		switch {
		case ctx.Err() != nil:
			return notYetJudged, ctx.Err()
		case errors.As(err, &failed):
			return NotCompiled, nil
		case err != nil:
			return notYetJudged, err
		}
	}
	return r.test(ctx, m, binaries)
}

func (r *runner) test(ctx context.Context, m *Mutant, binaries []string) (Verdict, error) {
	for i, binary := range binaries {
		cmd := r.command(ctx, r.tests[i].dir, binary, m.ID, r.Timeout)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return notYetJudged, ctx.Err()
		case err == nil:
			continue
		case !errors.As(err, &exit):
			return notYetJudged, err
		case bytes.Contains(out, []byte("panic: test timed out after")):
			return TimedOut, nil
		}
		return Killed, nil
	}
	return Survived, nil
}

func (r *runner) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(r.Log, format, args...) // progress only
}
