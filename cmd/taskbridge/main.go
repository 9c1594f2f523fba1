package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// Exit codes.
const (
	exitFine    = 0 // all is well
	exitNotFine = 1 // the thing asked about is not fine, or broke
	exitUsage   = 2 // usage or configuration
)

func main() {
	os.Exit(run(untilSignal(context.Background()), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
}

// untilSignal returns a context that the first interrupt or SIGTERM ends, which
// asks for a graceful end. From then on signals have their usual effect again,
// so that a second one ends the process at once.
func untilSignal(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		// Before anybody can see that the end has begun, so that a second signal
		// is never swallowed; one that came in between is delivered again.
		signal.Stop(signals)
		select {
		case second := <-signals:
			repeat(second)
		default:
		}
		cancel()
	}()
	return ctx
}

// repeat gives this process a signal that it has caught by mistake.
func repeat(s os.Signal) {
	if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(s) != nil {
		os.Exit(exitNotFine)
	}
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) int {
	a := &app{out: stdout, err: stderr, lookupEnv: lookupEnv, open: openBridge}
	return a.run(ctx, args, stdin)
}

// app is what the commands share.
type app struct {
	out, err  io.Writer
	lookupEnv func(string) (string, bool)
	open      opener
}

// A failure is an error of a command that was understood and tried. Any other
// error is one of usage.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func (a *app) run(ctx context.Context, args []string, stdin io.Reader) int {
	root := a.root(ctx)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteC()
	var (
		list *config.Error
		fail *failure
	)
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &list):
		a.complain("%v\n", list)
		return exitUsage
	case errors.As(err, &fail):
		a.complain("taskbridge: %v\n", fail)
		return fail.code
	default:
		a.complain("taskbridge: %v\nRun %q for usage.\n", err, cmd.CommandPath()+" --help")
		return exitUsage
	}
}

// say writes to standard output. A reader that has gone away is its own loss.
func (a *app) say(format string, args ...any) {
	_, _ = fmt.Fprintf(a.out, format, args...)
}

// complain writes to standard error.
func (a *app) complain(format string, args ...any) {
	_, _ = fmt.Fprintf(a.err, format, args...)
}

func (a *app) root(ctx context.Context) *cobra.Command {
	root := group("taskbridge", "Connect MCP clients and servers of two eras")
	root.Long = `taskbridge stands between MCP peers of 2025-11-25 and of 2026-07-28 with the
tasks extension, so that old clients reach new servers.

Every flag has a variable: --log-level is TASKBRIDGE_LOG_LEVEL, and so on. Those
of flags that can be repeated hold one value a line. A flag wins over its
variable, and both win over the configuration file.

Exit codes: 0 fine, 1 not fine, 2 wrong usage or configuration.`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(a.serve(ctx), a.demo(ctx), a.config(), a.version())
	return root
}

// group makes a command that only holds others.
func group(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
			}
			return fmt.Errorf("%s needs a command", cmd.CommandPath())
		},
	}
}

// option returns the value of a flag that serve does not hand to package
// config: from the command line, else from its variable, else the usual one.
// The origin is how to call it in messages.
func (a *app) option(cmd *cobra.Command, flag string) (val, origin string) {
	f := cmd.Flags().Lookup(flag)
	val = f.Value.String()
	if over, _ := a.lookupEnv(config.Variable(flag)); over != "" && !f.Changed {
		return over, config.Variable(flag) + "=" + over
	}
	return val, "--" + flag + " " + val
}
