package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// fakeBridge stands in for the bridge where a test looks at the command alone.
type fakeBridge struct {
	cfg    *config.Config
	logger *slog.Logger
	ready  func([]string)
	err    error
}

func (f *fakeBridge) Run(context.Context) error {
	f.logger.Info("running")
	f.ready([]string{"ready  one", "ready  two"})
	return f.err
}

// fake returns an app whose bridge fails with the given errors.
func fake(openErr, runErr error) (*app, *fakeBridge) {
	b := &fakeBridge{err: runErr}
	return &app{open: func(_ context.Context, cfg *config.Config, logger *slog.Logger, ready func([]string)) (runner, error) {
		b.cfg, b.logger, b.ready = cfg, logger, ready
		return b, openErr
	}}, b
}

func TestServe(t *testing.T) {
	t.Parallel()
	a, b := fake(nil, nil)
	a.lookupEnv = variables(t, "TASKBRIDGE_ADMIN=off", "TASKBRIDGE_BACKEND=x=http://x.example\ny=http://y.example", "TASKBRIDGE_LOG_LEVEL=debug")
	code, out, errOut := command(t, a, "serve", "--demo", "--listen", "127.0.0.1:0", "--store", "memory:",
		"--set", "page_size=5", "--set", "allowed_hosts=a.example,b.example")
	if code != 0 || out != "ready  one\nready  two\n" {
		t.Errorf("code %d, output %q", code, out)
	}
	var record map[string]any
	if err := json.Unmarshal([]byte(errOut), &record); err != nil || record["msg"] != "running" {
		t.Errorf("log = %q, want one JSON record", errOut)
	}
	if !b.logger.Enabled(t.Context(), slog.LevelDebug) {
		t.Error("TASKBRIDGE_LOG_LEVEL=debug has no effect")
	}
	var names []string
	for _, backend := range b.cfg.Backends {
		names = append(names, backend.Name)
	}
	got := []any{b.cfg.Listen, b.cfg.Admin.Off, b.cfg.Store.Kind, b.cfg.Defaults.PageSize, b.cfg.AllowedHosts, names}
	want := []any{"127.0.0.1:0", true, config.StoreMemory, 5, []string{"a.example", "b.example"}, []string{"x", "y", "demo-modern", "demo-legacy"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestServeProblems(t *testing.T) {
	t.Parallel()
	a, b := fake(nil, nil)
	a.lookupEnv = variables(t, "TASKBRIDGE_LOG_LEVEL=loud")
	code, out, errOut := command(t, a, "serve", "--set", "page_sise=5", "--backend", "h.example", "--listen", ":8720")
	want := strings.Join([]string{
		"--listen :8720: :8720 is not loopback, so allowed_hosts must list the names it is called by",
		`--backend h.example: want an http or https URL with a host and without user or fragment, got "h.example"`,
		"--set page_sise=5: unknown key, did you mean page_size",
		"TASKBRIDGE_LOG_LEVEL=loud: want debug, info, warn or error",
	}, "\n") + "\n"
	if code != 2 || out != "" || b.cfg != nil {
		t.Errorf("code %d, output %q, want 2 before anything is opened", code, out)
	}
	if diff := cmp.Diff(want, errOut); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestServeFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		openErr, runErr error
		code            int
		want            string
	}{
		{"open", errors.New("disk full"), nil, 1, "taskbridge: disk full\n"},
		{"run", nil, errors.New("cannot drain"), 1, "taskbridge: cannot drain\n"},
		{"configuration", &failure{code: 2, err: errors.New("locked")}, nil, 2, "taskbridge: locked\n"},
	} {
		a, _ := fake(tt.openErr, tt.runErr)
		code, _, errOut := command(t, a, "serve", "--demo", "--log-level", "error")
		if code != tt.code || errOut != tt.want {
			t.Errorf("%s: code %d, errors %q, want %d, %q", tt.name, code, errOut, tt.code, tt.want)
		}
	}
}

func TestLoggerOfAFile(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if isTerminal(f) || isTerminal(io.Discard) {
		t.Error("a file is no terminal")
	}
}

// initialize is the first message of a legacy client.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// address cuts a "ready" line into its fields.
func address(t *testing.T, line, kind string) string {
	t.Helper()
	fields := strings.Fields(line)
	if len(fields) < 3 || fields[0] != "ready" || fields[1] != kind {
		t.Fatalf("line %q, want ready %s and an address", line, kind)
	}
	return fields[2]
}

func TestServeDemo(t *testing.T) {
	t.Parallel()
	out, errOut, stop := start(t, variables(t), "serve", "--demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--store", "memory:")
	line := <-out.lines
	url := address(t, line, "legacy")
	if want := "ready  legacy  " + url + "  ->  demo-modern (in-process demo)"; line != want {
		t.Errorf("line %q, want %q", line, want)
	}
	if strings.Contains(url, ":0/") || !strings.HasSuffix(url, "/legacy/demo-modern") {
		t.Errorf("URL %q", url)
	}
	base := strings.TrimSuffix(url, "/legacy/demo-modern")
	for _, route := range []string{"/legacy/demo-legacy", "/modern/demo-modern", "/modern/demo-legacy"} {
		face, backend, _ := strings.Cut(route[1:], "/")
		if line, want := <-out.lines, "ready  "+face+"  "+base+route+"  ->  "+backend+" (in-process demo)"; line != want {
			t.Errorf("line %q, want %q", line, want)
		}
	}
	admin := address(t, <-out.lines, "admin")
	status, answer, header := post(t, url, initialize, nil)
	if status != 200 || header.Get("Mcp-Session-Id") == "" || !strings.Contains(answer, `"tasks"`) {
		t.Errorf("initialize: status %d, %s", status, answer)
	}
	if status, answer := get(t, admin+"/readyz"); status != 200 {
		t.Errorf("readyz: status %d, %s", status, answer)
	}
	if code := stop(); code != 0 {
		t.Errorf("stop: code %d, errors %s", code, errOut)
	}
	if line, more := <-out.lines; more {
		t.Errorf("another line %q", line)
	}
}

func TestServeAddressInUse(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	addr := l.Addr().String()
	for _, args := range [][]string{
		{"--listen", addr, "--admin", "off"},
		{"--listen", "127.0.0.1:0", "--admin", addr},
	} {
		code, out, errOut := command(t, nil, append([]string{"serve", "--demo", "--store", "memory:", "--log-level", "error"}, args...)...)
		if code != 2 || out != "" || !strings.Contains(errOut, addr) || !strings.Contains(errOut, "in use") {
			t.Errorf("%s: code %d, output %q, errors %q", args, code, out, errOut)
		}
	}
}

func TestServeLockedStore(t *testing.T) {
	t.Parallel()
	env := variables(t)
	args := []string{"serve", "--demo", "--listen", "127.0.0.1:0", "--admin", "off"}
	out, errOut, stop := start(t, env, args...)
	if line, ok := <-out.lines; !ok {
		t.Fatalf("the first does not start: %q, %s", line, errOut)
	}
	home, _ := env("HOME")
	file := filepath.Join(home, ".local", "state", "taskbridge", "taskbridge.db")
	code, _, second := command(t, &app{lookupEnv: env, open: openBridge}, args...)
	if code != 2 || !strings.Contains(second, file+" is in use by another process") {
		t.Errorf("the second: code %d, errors %q", code, second)
	}
	if code := stop(); code != 0 {
		t.Errorf("the first: code %d, errors %s", code, errOut)
	}
	out, errOut, stop = start(t, env, args...)
	if _, ok := <-out.lines; !ok {
		t.Errorf("the file stays locked: %s", errOut)
	}
	if code := stop(); code != 0 {
		t.Errorf("the third: code %d, errors %s", code, errOut)
	}
}
