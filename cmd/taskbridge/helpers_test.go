package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// pipe is an output that tests read while a command runs.
type pipe struct {
	mu    sync.Mutex
	all   bytes.Buffer
	lines chan string // gets each line, if not nil
	rest  string
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all.Write(b)
	if p.lines == nil {
		return len(b), nil
	}
	p.rest += string(b)
	for {
		line, rest, ok := strings.Cut(p.rest, "\n")
		if !ok {
			return len(b), nil
		}
		p.rest = rest
		p.lines <- line
	}
}

func (p *pipe) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.String()
}

// variables is an environment of NAME=VALUE pairs, with a home of its own.
func variables(t *testing.T, pairs ...string) func(string) (string, bool) {
	t.Helper()
	vars := map[string]string{"HOME": t.TempDir()}
	for _, p := range pairs {
		name, val, _ := strings.Cut(p, "=")
		vars[name] = val
	}
	return func(name string) (string, bool) {
		val, ok := vars[name]
		return val, ok
	}
}

// command runs a command line to its end.
func command(t *testing.T, a *app, args ...string) (code int, out, errOut string) {
	t.Helper()
	stdout, stderr := new(pipe), new(pipe)
	if a == nil {
		code = run(t.Context(), args, strings.NewReader(""), stdout, stderr, variables(t))
	} else {
		a.out, a.err = stdout, stderr
		if a.lookupEnv == nil {
			a.lookupEnv = variables(t)
		}
		code = a.run(t.Context(), args, strings.NewReader(""))
	}
	return code, stdout.String(), stderr.String()
}

// start runs a command line in the background and returns what it prints, a
// function that asks it to stop, and its exit code.
func start(t *testing.T, env func(string) (string, bool), args ...string) (out, errOut *pipe, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, errOut = &pipe{lines: make(chan string, 100)}, new(pipe)
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, strings.NewReader(""), out, errOut, env)
		close(out.lines)
	}()
	stop = sync.OnceValue(func() int {
		cancel()
		return <-code
	})
	t.Cleanup(func() { stop() })
	return out, errOut, stop
}

// post sends a JSON-RPC message and returns the status and the body.
func post(t *testing.T, url, body string, header http.Header) (status int, answer string, h http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

// get fetches a URL and returns the status and the body.
func get(t *testing.T, url string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
