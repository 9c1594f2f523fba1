package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		code int
		want string // of both outputs
	}{
		{"", 2, "taskbridge: taskbridge needs a command\nRun \"taskbridge --help\" for usage.\n"},
		{"nonsense", 2, "taskbridge: unknown command \"nonsense\" for \"taskbridge\"\nRun \"taskbridge --help\" for usage.\n"},
		{"stdio", 2, "taskbridge: unknown command \"stdio\" for \"taskbridge\"\nRun \"taskbridge --help\" for usage.\n"},
		{"demo", 2, "taskbridge: taskbridge demo needs a command\nRun \"taskbridge demo --help\" for usage.\n"},
		{"demo ancient", 2, "taskbridge: unknown command \"ancient\" for \"taskbridge demo\"\nRun \"taskbridge demo --help\" for usage.\n"},
		{"config", 2, "taskbridge: taskbridge config needs a command\nRun \"taskbridge config --help\" for usage.\n"},
		{"config check", 2, "taskbridge: accepts 1 arg(s), received 0\nRun \"taskbridge config check --help\" for usage.\n"},
		{"config schema x", 2, "taskbridge: unknown command \"x\" for \"taskbridge config schema\"\nRun \"taskbridge config schema --help\" for usage.\n"},
		{"serve --record x", 2, "taskbridge: unknown flag: --record\nRun \"taskbridge serve --help\" for usage.\n"},
		{"serve --backend", 2, "taskbridge: flag needs an argument: --backend\nRun \"taskbridge serve --help\" for usage.\n"},
		{"serve http://h.example", 2, "taskbridge: unknown command \"http://h.example\" for \"taskbridge serve\"\nRun \"taskbridge serve --help\" for usage.\n"},
		{"completion bash", 2, "taskbridge: unknown command \"completion\" for \"taskbridge\"\nRun \"taskbridge --help\" for usage.\n"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := command(t, nil, strings.Fields(tt.args)...)
			if code != tt.code || out != "" {
				t.Errorf("code %d, output %q, want %d and none", code, out, tt.code)
			}
			if diff := cmp.Diff(tt.want, errOut); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--help":             "config      Check or describe",
		"help serve":         "taskbridge serve --demo",
		"serve --help":       "--backend [NAME=]URL",
		"demo --help":        "modern",
		"demo modern --help": "--listen ADDRESS",
		"demo legacy --help": "2025-11-25",
		"config check -h":    "taskbridge config check FILE",
	} {
		code, out, errOut := command(t, nil, strings.Fields(args)...)
		if code != 0 || errOut != "" || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, errors %q, output without %q:\n%s", args, code, errOut, want, out)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, out, errOut := command(t, nil, "version")
	if code != 0 || errOut != "" || !strings.HasPrefix(out, "taskbridge ") || !strings.Contains(out, runtime.Version()) {
		t.Errorf("version: code %d, output %q, errors %q", code, out, errOut)
	}
	tail := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	for _, tt := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, "taskbridge (unknown version)"},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "taskbridge v1.2.3"},
		{debug.BuildInfo{
			Main:     debug.Module{Version: "(devel)"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}},
		}, "taskbridge (devel) commit abc"},
		{debug.BuildInfo{
			Main:     debug.Module{Version: "(devel)"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
		}, "taskbridge (devel) commit abc (modified)"},
	} {
		if got := describe(&tt.info); got != tt.want+tail {
			t.Errorf("describe = %q, want %q", got, tt.want+tail)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	good := filepath.Join(t.TempDir(), "good.yaml")
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	for name, text := range map[string]string{
		good: "backends: {a: {url: \"http://${BACKEND}/mcp\"}}\n",
		bad:  "lisen: 127.0.0.1:1\nbackends:\n  a: {url: ftp://a.example}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, file string
		env        []string
		code       int
		out, err   string
	}{
		{"a good file", good, []string{"BACKEND=a.example"}, 0, good + ": ok\n", ""},
		{"variables of flags play no part", good, []string{"BACKEND=a.example", "TASKBRIDGE_LISTEN=nonsense"}, 0, good + ": ok\n", ""},
		{"a variable that is not set", good, nil, 2, "", good + ":1: backends.a.url: ${BACKEND}: not set in the environment\n"},
		{"a bad file", bad, nil, 2, "", bad + ":1: lisen: unknown key, did you mean listen\n" +
			bad + ":3: backends.a.url: want an http or https URL with a host and without user or fragment, got \"ftp://a.example\"\n"},
		{"no file", "/nonexistent.yaml", nil, 2, "", "/nonexistent.yaml: no such file or directory\n"},
	} {
		code, out, errOut := command(t, &app{lookupEnv: variables(t, tt.env...)}, "config", "check", tt.file)
		if diff := cmp.Diff([]any{tt.code, tt.out, tt.err}, []any{code, out, errOut}); diff != "" {
			t.Errorf("%s: code, output, errors (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestConfigSchema(t *testing.T) {
	t.Parallel()
	code, out, errOut := command(t, nil, "config", "schema")
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 || errOut != "" {
		t.Fatalf("code %d, errors %q, %v", code, errOut, err)
	}
	if v["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("$schema = %v", v["$schema"])
	}
}
