package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/taskbridge/taskbridge/internal/readme"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns 0 if every document is right, 1 if one is not, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("readme", flag.ContinueOnError)
	flags.SetOutput(stderr)
	tests := flags.Bool("test", false, "run the test blocks only")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		_, _ = fmt.Fprintln(stderr, "usage: readme [-test] FILE ...")
		return 2
	}
	code := 0
	for _, path := range flags.Args() {
		r := readme.Runner{Path: path, Tests: *tests, Log: stdout}
		if err := r.Run(ctx); err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			code = 1
		}
	}
	return code
}
