package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskbridge/taskbridge/internal/demo"
)

const (
	demoListen = "127.0.0.1:8730"
	// demoPath is where a demo server is mounted.
	demoPath = "/mcp"
	// demoDrain bounds the graceful end of a demo server.
	demoDrain = 5 * time.Second
	// demoHeaders is how long a client may take to send its headers.
	demoHeaders = 10 * time.Second
)

func (a *app) demo(ctx context.Context) *cobra.Command {
	cmd := group("demo", "Run a demo server as a process of its own")
	cmd.AddCommand(
		a.demoCommand(ctx, "modern", "2026-07-28 with the tasks extension", func() demoServer { return demo.NewModern(demo.Options{}) }),
		a.demoCommand(ctx, "legacy", "2025-11-25 with sessions and tasks", func() demoServer { return demo.NewLegacy(demo.Options{}) }),
	)
	return cmd
}

// demoServer is what the demo servers of both eras have in common.
type demoServer interface {
	http.Handler
	Close()
}

// demoCommand runs the demo server of one era; what says which revision that is.
func (a *app) demoCommand(ctx context.Context, era, what string, server func() demoServer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   era,
		Short: "Run a demo server of " + what,
		Long:  "Run a demo server of " + what + ", at " + demoPath + ". It prints its\nURL when it is ready.",
		Example: "  taskbridge demo " + era + "\n" +
			"  taskbridge demo " + era + " --listen 127.0.0.1:0",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, origin := a.option(cmd, "listen")
			return a.runDemo(ctx, address, origin, server)
		},
	}
	cmd.Flags().String("listen", demoListen, "`ADDRESS` for clients; port 0 takes a free one")
	return cmd
}

// runDemo serves a demo server until ctx is done.
func (a *app) runDemo(ctx context.Context, address, origin string, start func() demoServer) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return &failure{code: exitUsage, err: fmt.Errorf("%s: %w", origin, err)}
	}
	server := start()
	mux := http.NewServeMux()
	mux.Handle(demoPath, server)
	hs := &http.Server{Handler: mux, ReadHeaderTimeout: demoHeaders}
	done := make(chan error, 1)
	go func() { done <- hs.Serve(l) }()
	a.say("http://%s%s\n", l.Addr(), demoPath)

	select {
	case err := <-done:
		server.Close()
		return asFailure(err)
	case <-ctx.Done():
	}
	server.Close() // ends the streams that Shutdown would wait for
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), demoDrain)
	defer cancel()
	err = hs.Shutdown(ctx)
	if cause := <-done; !errors.Is(cause, http.ErrServerClosed) {
		err = errors.Join(err, cause)
	}
	if err != nil {
		return asFailure(errors.Join(err, hs.Close()))
	}
	return nil
}
