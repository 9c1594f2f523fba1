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
	modern := &cobra.Command{
		Use:   "modern",
		Short: "Run a demo server of 2026-07-28 with the tasks extension",
		Long:  "Run a demo server of 2026-07-28 with the tasks extension, at " + demoPath + ". It prints its\nURL when it is ready.",
		Example: `  taskbridge demo modern
  taskbridge demo modern --listen 127.0.0.1:0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, origin := a.option(cmd, "listen")
			return a.runDemo(ctx, address, origin)
		},
	}
	modern.Flags().String("listen", demoListen, "`ADDRESS` for clients; port 0 takes a free one")
	cmd.AddCommand(modern)
	return cmd
}

// runDemo serves the modern demo until ctx is done.
func (a *app) runDemo(ctx context.Context, address, origin string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return &failure{code: exitUsage, err: fmt.Errorf("%s: %w", origin, err)}
	}
	server := demo.NewModern(demo.Options{})
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
