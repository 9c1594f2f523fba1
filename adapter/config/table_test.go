package config

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// other gives each key a value that is not its default, or that of base below.
var other = map[string]string{
	"listen": "127.0.0.1:1", "tls.cert": "x.pem", "tls.key": "x.pem",
	"admin.listen": "off", "admin.token": "t", "allowed_hosts": "x.example",
	"faces.legacy.listen": "127.0.0.1:2", "faces.legacy.off": "true", "faces.legacy.allowed_origins": "https://x.example",
	"faces.modern.listen": "127.0.0.1:3", "faces.modern.off": "true", "faces.modern.allowed_origins": "https://x.example",
	"store": "memory:", "secrets": "0123456789abcdef",
	"auth.jwks_url": "https://id.example/keys", "auth.issuer": "https://id.example", "auth.audience": "bridge",
	"auth.public_url": "https://bridge.example", "auth.authorization_servers": "https://id.example",
	"limits.body": "1", "limits.result": "1", "limits.inflight_bytes": "2GiB", "limits.sessions": "1",
	"limits.sessions_per_address": "1", "limits.streams_per_session": "1", "limits.header_timeout": "1s",
	"limits.connections": "1", "limits.connections_per_address": "1", "trusted_proxies": "10.0.0.1",
	"times.session_idle": "1s", "times.call_idle": "1s", "times.call_total": "2h", "times.park": "1s", "times.answer": "1s",
	"times.replay_window": "1s", "times.poll_floor": "1s", "times.hosted_poll": "2s", "times.min_ttl": "1s", "times.max_ttl": "25h",
	"times.list_retention": "1s", "times.probe": "1s", "times.reprobe": "1s", "times.drain": "1s",
	"backends.a.url": "http://b.example", "backends.a.ca_file": "x.pem", "backends.a.credentials": "none",
	"backends.a.header.name": "x", "backends.a.header.value": "${V}", "backends.a.same_resource": "true",
}

// settings are the same for defaults and backends.
var settings = map[string]string{
	"era": "modern", "plain_calls": "drive", "tool_errors": "completed", "required_tools": "drive", "host_tasks": "slow",
	"sync_grace": "1s", "host_grace": "1s", "hosted_ttl": "1s", "page_size": "1", "strict_task_names": "true",
}

// notYet are the keys that this version refuses.
var notYet = []string{
	"backends.a.command", "backends.a.env", "backends.a.mirror", "backends.a.split",
}

// leaves lists the paths of the table that take a value.
func leaves(path string, s shape) []string {
	keys := s.keys()
	if _, ok := s.(backendsShape); ok {
		keys = []string{"a"}
	}
	if len(keys) == 0 {
		return []string{path}
	}
	var out []string
	for _, k := range keys {
		out = append(out, leaves(join(path, k), s.child(k))...)
	}
	return out
}

// TestEveryKeyCounts proves that no key is accepted and then forgotten: each
// changes the configuration, or is a problem.
func TestEveryKeyCounts(t *testing.T) {
	t.Parallel()
	values := maps.Clone(other)
	for k, v := range settings {
		values["defaults."+k], values["backends.a."+k] = v, v
	}
	// read fills in a Config without the checks of the whole.
	read := func(set ...string) (*Config, error) {
		d := &decoder{env: func(name string) (string, bool) { return "v", name == "V" }}
		root := &node{form: formMapping}
		for _, s := range append([]string{"backends.a.url=http://a.example"}, set...) {
			d.set(root, override{name: "--set", glue: " ", rank: 1}, s)
		}
		cfg := new(Config)
		table.Preset(d, cfg)
		table.Read(d, root, "", cfg)
		return cfg, d.err()
	}
	base, err := read()
	if err != nil {
		t.Fatal(err)
	}
	all := leaves("", table)
	for _, path := range all {
		if slices.Contains(notYet, path) {
			_, err := read(path + "=1")
			var list *Error
			if !errors.As(err, &list) || !strings.Contains(list.Problems[0].Message, "not supported yet") {
				t.Errorf("%s: %v, want not supported yet", path, err)
			}
			continue
		}
		val, ok := values[path]
		if !ok {
			t.Errorf("%s: the test has no value for it", path)
			continue
		}
		delete(values, path)
		cfg, err := read(path + "=" + val)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if reflect.DeepEqual(cfg, base) {
			t.Errorf("%s=%s changes nothing", path, val)
		}
	}
	for path := range values {
		t.Errorf("%s is no key", path)
	}
	for _, path := range notYet {
		if !slices.Contains(all, path) {
			t.Errorf("%s is no key", path)
		}
	}
}

func TestClosest(t *testing.T) {
	t.Parallel()
	keys := []string{"era", "url", "page_size", "park", "probe"}
	for word, want := range map[string]string{
		"ear": "era", "uri": "url", "page_sise": "page_size", "pagesize": "page_size", "prak": "park", "probes": "probe", "a": "", "": "", "elephant": "",
	} {
		if got := closest(word, keys); got != want {
			t.Errorf("closest(%q) = %q, want %q", word, got, want)
		}
	}
}

// FuzzDocument holds that no file crashes the reader and that every refusal
// says why.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{
		"", "a: [b:c]", "x: {a: [https://u:8, 'q']}", "a: |\n x\n", "? x\n: y", "<<: *x", "a: &x {b: *x}", "backends: {a: {url: \"${X}\"}}", "%YAML 1.2\n---\na: 1\n...\n", "{a: {b", "- - -", "!!x y", "a: \"\\ud800\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &decoder{env: func(string) (string, bool) { return "v", true }}
		root := yamlReader{src: source{label: "f"}, env: d.env, out: &d.problems}.document(data)
		if root == nil && len(d.problems) == 0 {
			t.Fatal("refused without a reason")
		}
		if root != nil {
			cfg := new(Config)
			table.Preset(d, cfg)
			table.Read(d, root, "", cfg)
			checker{decoder: d, root: root, cfg: cfg}.check()
		}
	})
}
