package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// one is a backend, for files whose problems lie elsewhere.
const one = "backends: {a: {url: http://a.example/mcp}}\n"

var fileCases = []struct {
	name string
	file string
	want []string
}{
	{"an empty file has no backend", "", []string{"bridge.yaml: no backend: name one in the file, with --backend, or use --demo"}},
	{"a file of comments is an empty file", "# nothing\n", []string{"bridge.yaml: no backend: name one in the file, with --backend, or use --demo"}},
	{"an empty mapping of backends has no backend", "backends: {}\n", []string{"bridge.yaml:1: backends: no backend: name one here, with --backend, or use --demo"}},
	{"a byte order mark and CRLF do no harm", "\ufeffbackends:\r\n  a: {url: http://a.example/mcp}\r\n", nil},
	{"a directive does no harm", "%YAML 1.1\n---\n" + one, nil},
	{"broken YAML has its line", "listen: x\nlimits: {body\n", []string{"bridge.yaml:2: not YAML: could not find flow map content"}},
	{"a list is no configuration", "- a\n", []string{"bridge.yaml:1: want a mapping at the top of the file, got a list"}},
	{"text is no configuration", "hello\n", []string{"bridge.yaml:1: want a mapping at the top of the file, got a single value"}},
	{"only one document", one + "---\nlisten: x\n", []string{"bridge.yaml:3: a second document; there must be one"}},
	{"only UTF-8", "a: \xff\n", []string{"bridge.yaml: not UTF-8 text"}},
	{
		"all problems at once, by line",
		"lisen: 127.0.0.1:1\ntimes: {probe: soon, drane: 1s}\nlimits:\n  body: 0\n  sessions: many\nnonsense: 1\n" + one,
		[]string{
			"bridge.yaml:1: lisen: unknown key, did you mean listen",
			`bridge.yaml:2: times.probe: want a time such as 400ms, 5m or 24h, at least 1ms, got "soon"`,
			"bridge.yaml:2: times.drane: unknown key, did you mean drain",
			`bridge.yaml:4: limits.body: want a size above zero such as 512KiB, 4MiB or 1GiB, got "0"`,
			`bridge.yaml:5: limits.sessions: want a whole number from 1 to 10000000, got "many"`,
			"bridge.yaml:6: nonsense: unknown key",
		},
	},
	{
		"duplicate keys, the first counts",
		"listen: 127.0.0.1:1\nlisten: nonsense\n" + one + "times: {probe: 1s, probe: 2s}\n",
		[]string{
			"bridge.yaml:2: listen: duplicate key, first on line 1",
			"bridge.yaml:4: times.probe: duplicate key, first on line 4",
		},
	},
	{
		"the same backend twice",
		"backends:\n  a: {url: http://a.example/mcp}\n  a: {url: http://b.example/mcp}\n",
		[]string{"bridge.yaml:3: backends.a: duplicate key, first on line 2"},
	},
	{"a setting at the top belongs under defaults", one + "page_size: 5\n", []string{"bridge.yaml:2: page_size: unknown key, did you mean defaults.page_size"}},
	{
		"wrong forms",
		one + "times: 5\nallowed_hosts: localhost\nlisten: [a]\nadmin: off\nstore:\n",
		[]string{
			"bridge.yaml:2: times: want a mapping of session_idle, call_idle, call_total, park, answer, replay_window, poll_floor, hosted_poll, min_ttl, max_ttl, list_retention, probe, reprobe or drain, got a single value",
			"bridge.yaml:3: allowed_hosts: want a list, got a single value",
			"bridge.yaml:4: listen: want host:port such as 127.0.0.1:8720 or [::1]:8720, got a list",
			"bridge.yaml:5: admin: want a mapping of listen or token, got a single value",
			"bridge.yaml:6: store: want embedded:, embedded:PATH, memory: or redis://..., got nothing",
		},
	},
	{
		"anchors, aliases, merge keys and tags",
		"backends:\n  a: &x {url: http://a.example/mcp}\n  b: *x\nlisten: !!str 127.0.0.1:1\n<<: {store: 'memory:'}\n",
		[]string{
			"bridge.yaml:2: backends.a: anchors, aliases and tags are not used in a configuration",
			"bridge.yaml:3: backends.b: anchors, aliases and tags are not used in a configuration",
			"bridge.yaml:4: listen: anchors, aliases and tags are not used in a configuration",
			"bridge.yaml:5: a key must be a plain word; merge keys, anchors and tags are not used in a configuration",
		},
	},
	{"off as a bare word", one + "defaults: {host_tasks: off}\nadmin: {listen: off}\n", nil},
	{"off as a quoted word", one + "defaults: {host_tasks: \"off\"}\nadmin: {listen: 'off'}\n", nil},
	{
		"choices", one + "defaults: {era: new, plain_calls: async, tool_errors: \"\", required_tools: no, host_tasks: false}\n",
		[]string{
			`bridge.yaml:2: defaults.era: want auto, legacy or modern, got "new"`,
			`bridge.yaml:2: defaults.plain_calls: want sync or drive, got "async"`,
			"bridge.yaml:2: defaults.tool_errors: want failed or completed",
			`bridge.yaml:2: defaults.required_tools: want refuse or drive, got "no"`,
			`bridge.yaml:2: defaults.host_tasks: want auto, off or slow, got "false"`,
		},
	},
	{
		"numbers and truth values",
		one + "defaults:\n  page_size: 0\n  strict_task_names: yes\n  sync_grace: -1s\n  hosted_ttl: 5\nlimits: {sessions: 1.5}\n",
		[]string{
			`bridge.yaml:3: defaults.page_size: want a whole number from 1 to 1000, got "0"`,
			`bridge.yaml:4: defaults.strict_task_names: want true or false, got "yes"`,
			`bridge.yaml:5: defaults.sync_grace: want a time such as 400ms, 5m or 24h, got "-1s"`,
			`bridge.yaml:6: defaults.hosted_ttl: want a time such as 400ms, 5m or 24h, at least 1ms, got "5"`,
			`bridge.yaml:7: limits.sessions: want a whole number from 1 to 10000000, got "1.5"`,
		},
	},
	{
		"times and sizes that contradict each other",
		"times: {min_ttl: 2h, max_ttl: 30m, call_idle: 2h}\nlimits: {inflight_bytes: 8MiB}\ndefaults: {hosted_ttl: 45m}\nbackends: {a: {url: http://a.example/mcp, hosted_ttl: 1h30m}}\n",
		[]string{
			"bridge.yaml:1: times.min_ttl: 2h is longer than times.max_ttl (30m)",
			"bridge.yaml:1: times.call_idle: 2h is longer than times.call_total (1h)",
			"bridge.yaml:2: limits.inflight_bytes: limits.result is more than limits.inflight_bytes allows for all messages together",
			"bridge.yaml:3: defaults.hosted_ttl: 45m is longer than times.max_ttl (30m)",
			"bridge.yaml:4: backends.a.hosted_ttl: 1h30m is longer than times.max_ttl (30m)",
		},
	},
	{
		"settings of the modern face",
		one + "times:\n  park: 11m\ndefaults:\n  era: legacy\n  required_tools: drive\n  host_tasks: slow\n  host_grace: 401ms\n  strict_task_names: true\n", nil,
	},
	{"a time below another's default", one + "times: {call_total: 10s}\n", []string{"bridge.yaml:2: times.call_total: 10s is shorter than times.call_idle (5m)"}},
}

func TestFileProblems(t *testing.T) {
	t.Parallel()
	for _, tt := range fileCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, tt.file)
			got := messages(t, config.Check(file, environment()), file)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

var edgeCases = []struct {
	name string
	file string
	want []string
}{
	{"a listener of the world needs its own hosts", one + "listen: 0.0.0.0:80\n", []string{"bridge.yaml:2: listen: 0.0.0.0:80 is not loopback, so allowed_hosts must list the names it is called by"}},
	{"an address without host is the world", one + "listen: :8720\n", []string{"bridge.yaml:2: listen: :8720 is not loopback, so allowed_hosts must list the names it is called by"}},
	{"a name other than localhost is the world", one + "listen: bridge:8720\n", []string{"bridge.yaml:2: listen: bridge:8720 is not loopback, so allowed_hosts must list the names it is called by"}},
	{"a listener of the world with its own hosts", one + "listen: 0.0.0.0:80\nallowed_hosts: [bridge.example]\n", nil},
	{"loopback in other words", one + "listen: localhost:1\nadmin: {listen: \"[::1]:2\"}\nfaces: {legacy: {listen: 127.9.9.9:3}}\n", nil},
	{"a face's own address counts too", one + "faces: {legacy: {listen: 10.1.2.3:80}}\n", []string{"bridge.yaml:2: faces.legacy.listen: 10.1.2.3:80 is not loopback, so allowed_hosts must list the names it is called by"}},
	{"an address that no face uses does not count", one + "listen: 0.0.0.0:80\nfaces: {legacy: {listen: 127.0.0.1:1}, modern: {off: true}}\n", nil},
	{"admin off loopback needs hosts and a token", one + "admin: {listen: 10.1.2.3:80}\n", []string{
		"bridge.yaml:2: admin.listen: 10.1.2.3:80 is not loopback, so admin.token is required",
		"bridge.yaml:2: admin.listen: 10.1.2.3:80 is not loopback, so allowed_hosts must list the names it is called by",
	}},
	{"admin off loopback with both", one + "admin: {listen: 10.1.2.3:80, token: t}\nallowed_hosts: [admin.example]\n", nil},
	{"no admin needs neither", one + "admin: {listen: off}\n", nil},
	{"admin and face on one address", one + "admin: {listen: 127.0.0.1:8720}\n", []string{"bridge.yaml:2: admin.listen: 127.0.0.1:8720 is also the address of a face (listen)"}},
	{"admin and face on any free port", one + "admin: {listen: 127.0.0.1:0}\nlisten: 127.0.0.1:0\n", nil},
	{"addresses", one + "listen: 127.0.0.1\nadmin: {listen: 127.0.0.1:http}\nfaces: {legacy: {listen: '::1:80'}}\n", []string{
		`bridge.yaml:2: listen: want host:port such as 127.0.0.1:8720 or [::1]:8720, got "127.0.0.1"`,
		`bridge.yaml:3: admin.listen: want host:port or off, got "127.0.0.1:http"`,
		`bridge.yaml:4: faces.legacy.listen: want host:port such as 127.0.0.1:8720 or [::1]:8720, got "::1:80"`,
	}},
	{"proxies", one + "trusted_proxies: [10.0.0.0/8, proxy.example, 10.0.0.0/33, '', '*', 'fe80::1%eth0', '::ffff:10.0.0.0/104']\n", []string{
		`bridge.yaml:2: trusted_proxies[1]: want an address or a network such as 10.0.0.0/8, got "proxy.example"`,
		`bridge.yaml:2: trusted_proxies[2]: want an address or a network such as 10.0.0.0/8, got "10.0.0.0/33"`,
		"bridge.yaml:2: trusted_proxies[3]: want an address or a network such as 10.0.0.0/8",
		`bridge.yaml:2: trusted_proxies[4]: want an address or a network such as 10.0.0.0/8, got "*"`,
		`bridge.yaml:2: trusted_proxies[5]: want an address or a network such as 10.0.0.0/8, got "fe80::1%eth0"`,
		`bridge.yaml:2: trusted_proxies[6]: want an address or a network such as 10.0.0.0/8, got "::ffff:10.0.0.0/104"`,
	}},
	{"hosts", one + "allowed_hosts: [a.example, 'b.example:80', '*', http://c.example, '']\n", []string{
		`bridge.yaml:2: allowed_hosts[1]: want a host name or address without a port, such as bridge.example or [::1], got "b.example:80"`,
		`bridge.yaml:2: allowed_hosts[2]: want a host name or address without a port, such as bridge.example or [::1], got "*"`,
		`bridge.yaml:2: allowed_hosts[3]: want a host name or address without a port, such as bridge.example or [::1], got "http://c.example"`,
		"bridge.yaml:2: allowed_hosts[4]: want a host name or address without a port, such as bridge.example or [::1]",
	}},
	{"no hosts at all", one + "allowed_hosts: []\n", []string{"bridge.yaml:2: allowed_hosts: the list is empty"}},
	{"origins", one + "faces: {legacy: {allowed_origins: [https://a.example, http://b.example:3000, '*', https://a.example/, 'null', https://u:p@a.example]}}\n", []string{
		`bridge.yaml:2: faces.legacy.allowed_origins[2]: want an origin such as https://app.example or http://localhost:3000, got "*"`,
		`bridge.yaml:2: faces.legacy.allowed_origins[3]: want an origin such as https://app.example or http://localhost:3000, got "https://a.example/"`,
		`bridge.yaml:2: faces.legacy.allowed_origins[4]: want an origin such as https://app.example or http://localhost:3000, got "null"`,
		`bridge.yaml:2: faces.legacy.allowed_origins[5]: want an origin such as https://app.example or http://localhost:3000, got "https://***@a.example"`,
	}},
	{"no face left", one + "faces: {legacy: {off: true}, modern: {off: true}}\n", []string{"bridge.yaml:2: faces.legacy.off: both faces are off; nothing is left to serve"}},
	{"the modern face alone", one + "faces: {legacy: {off: true}, modern: {listen: 127.0.0.1:1, allowed_origins: []}}\n", nil},
	{"the modern face on the admin listener", one + "faces: {modern: {listen: 127.0.0.1:8721}}\n", []string{
		"bridge.yaml:2: faces.modern.listen: 127.0.0.1:8721 is also the address of a face (faces.modern.listen)",
	}},
	{"half a certificate", one + "tls: {cert: c.pem}\n", []string{"bridge.yaml:2: tls: key is missing"}},
	{"an empty certificate", one + "tls: {}\n", []string{"bridge.yaml:2: tls: cert is missing", "bridge.yaml:2: tls: key is missing"}},
	{"secrets", one + "secrets: [fifteen letters, sixteen letters.]\n", []string{"bridge.yaml:2: secrets[0]: want a secret of at least 16 bytes"}},
	{"no secrets at all", one + "secrets: []\n", []string{"bridge.yaml:2: secrets: the list is empty"}},
	{"stores", one + "store: postgres://db/x\n", []string{`bridge.yaml:2: store: want embedded:, embedded:PATH, memory: or redis://..., got "postgres://db/x"`}},
	{"stores for replicas", one + "secrets: [sixteen letters.]\nstore: rediss://db/x\n", []string{`bridge.yaml:3: store: the database "x" is not a number`}},
	{"a store for replicas without secrets", one + "store: redis+sentinel://:s3cret@a,b/main\n", []string{
		`bridge.yaml:2: store: redis needs secrets, the same for every replica: secrets: ["${TASKBRIDGE_SECRET}"]`,
	}},
	{"a parameter of a store that is none", one + "secrets: [sixteen letters.]\nstore: redis://:s3cret@a?max_retries=3\n", []string{
		`bridge.yaml:3: store: unknown parameter "max_retries"`,
	}},
	{"a store for replicas", one + "secrets: [sixteen letters.]\nstore: redis+cluster://:s3cret@a:1,b:2?prefix=p\n", nil},
	{"a store's password is not shown", one + "store: postgres://u:pw@db/x\n", []string{`bridge.yaml:2: store: want embedded:, embedded:PATH, memory: or redis://..., got "postgres://***@db/x"`}},
}

func TestEdgeProblems(t *testing.T) {
	t.Parallel()
	for _, tt := range edgeCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, tt.file)
			got := messages(t, config.Check(file, environment()), file)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
