package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/taskbridge/taskbridge/internal/soak"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns 0 if the bridge bears the load, 1 if it does not, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o := soak.Options{Log: stdout}
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.Binary, "bin", "bin/taskbridge", "the taskbridge command")
	flags.DurationVar(&o.For, "for", 10*time.Minute, "how long the load goes on")
	flags.IntVar(&o.Streams, "streams", 10_000, "idle event streams")
	ceiling := flags.Int64("ceiling", 768, "what the bridge may keep resident, in MiB")
	keep := flags.String("keep", "", "directory for the store and the logs, which are kept there; otherwise they are removed")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return 2
	}
	o.Ceiling, o.Dir = *ceiling<<20, *keep
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "soak")
		if err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		o.Dir = dir
	}
	if err := soak.Run(ctx, o); err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
