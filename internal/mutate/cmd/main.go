package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/taskbridge/taskbridge/internal/mutate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns 0 if all is well, 1 if a mutant survived or an entry of the allow
// list is not needed, 2 if the run itself failed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	good, err := mutants(ctx, args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 2
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "mutate:", err)
		return 2
	case !good:
		return 1
	}
	return 0
}

func mutants(ctx context.Context, args []string, stdout, stderr io.Writer) (bool, error) {
	c := mutate.Config{Dir: ".", Log: stderr}
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	tests := flags.String("tests", "", "comma-separated `patterns` of the packages whose tests must notice (default: those changed)")
	ops := flags.String("ops", "", "comma-separated `kinds` of change (default: all)")
	match := flags.String("match", "", "only mutants whose line of output matches this `regexp`; entries of the allow list may then be unneeded")
	allow := flags.String("allow", "", "`file` of survivors that are allowed, each with a reason")
	list := flags.Bool("list", false, "list the mutants and run none")
	flags.IntVar(&c.Parallel, "parallel", 2, "how many mutants run at once")
	flags.DurationVar(&c.Timeout, "timeout", 0, "how long the tests of one mutant may take (default: ten times what they take unchanged, and 10s)")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if c.Packages = flags.Args(); len(c.Packages) == 0 {
		return false, errors.New("which package?")
	}
	if *tests != "" {
		c.Tests = strings.Split(*tests, ",")
	}
	for _, op := range strings.FieldsFunc(*ops, func(r rune) bool { return r == ',' }) {
		c.Ops = append(c.Ops, mutate.Op(op))
	}
	if *match != "" {
		re, err := regexp.Compile(*match)
		if err != nil {
			return false, err
		}
		c.Match = re
	}
	if *list {
		return true, listMutants(ctx, c, stdout)
	}
	allowed, err := readAllowed(*allow)
	if err != nil {
		return false, err
	}
	results, err := mutate.Run(ctx, c)
	if err != nil {
		return false, err
	}
	judgement := mutate.Judge(results, allowed)
	if c.Match != nil {
		judgement.Unneeded = nil
	}
	return judgement.Good(), judgement.Write(stdout)
}

func listMutants(ctx context.Context, c mutate.Config, stdout io.Writer) error {
	found, err := mutate.Find(ctx, c)
	if err != nil {
		return err
	}
	for _, m := range found {
		if _, err := fmt.Fprintln(stdout, m); err != nil {
			return err
		}
	}
	return nil
}

func readAllowed(path string) ([]mutate.Allowed, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path) //nolint:gosec // the file the caller named
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	allowed, err := mutate.ReadAllowed(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return allowed, nil
}
