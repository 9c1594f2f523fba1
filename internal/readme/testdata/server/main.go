// Command server answers requests until it is interrupted. It writes its
// address to the state directory, where the fixture documents read it, and
// fails at the end if a file named fail is there.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	state := os.Getenv("XDG_STATE_HOME")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	if err := os.WriteFile(filepath.Join(state, "url"), []byte(url), 0o600); err != nil {
		return err
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Session", "s-"+r.Header.Get("Name"))
		fmt.Fprintf(w, `{"path":%q,"session":%q,"extra":{"n":1}}`, r.URL.Path, r.Header.Get("Session"))
	})
	server := &http.Server{Handler: answer, ReadHeaderTimeout: time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Println("starting")
	fmt.Println("ready at", url)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if _, err := os.Stat(filepath.Join(state, "fail")); err == nil {
		return errors.New("told to fail")
	}
	return nil
}
