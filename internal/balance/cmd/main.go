package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"time"

	"github.com/taskbridge/taskbridge/internal/balance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "balance:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("want an address and the URLs of replicas")

// headerTimeout bounds how long a client may take for the head of a request.
const headerTimeout = 10 * time.Second

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	replicas := make([]*url.URL, len(args)-1)
	for i, arg := range args[1:] {
		var err error
		if replicas[i], err = url.Parse(arg); err != nil {
			return err
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", args[0])
	if err != nil {
		return err
	}
	server := &http.Server{Handler: balance.New(replicas...), ReadHeaderTimeout: headerTimeout}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
