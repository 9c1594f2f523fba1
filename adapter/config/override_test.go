package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// load loads with the flags, a file whose text is given, and the environment.
func load(t *testing.T, text string, flags config.Flags, env ...string) (*config.Config, []string) {
	t.Helper()
	var file string
	if text != "" {
		file = write(t, text)
		flags.Config = &file
	}
	cfg, err := config.Load(config.Inputs{Flags: flags, LookupEnv: environment(env...)})
	if (cfg == nil) != (err != nil) {
		t.Fatalf("Load = %v, %v; want one of the two", cfg, err)
	}
	return cfg, messages(t, err, file)
}

func ptr[T any](v T) *T { return &v }

var backendFileCases = []struct {
	name string
	file string
	want []string
}{
	{"names", "backends: {Old: {url: http://x.example}, -a: {url: http://x.example}, a.b: {url: http://x.example}, 9-x: {url: http://x.example}}\n", []string{
		"bridge.yaml:1: backends.Old: a backend's name is lower-case letters, digits and dashes, and starts with no dash",
		"bridge.yaml:1: backends.-a: a backend's name is lower-case letters, digits and dashes, and starts with no dash",
		"bridge.yaml:1: backends.a.b: a backend's name is lower-case letters, digits and dashes, and starts with no dash",
	}},
	{"a backend is somewhere", "backends:\n  a: {era: modern}\n  b:\n  c: http://c.example\n", []string{
		"bridge.yaml:2: backends.a: needs a url",
		"bridge.yaml:3: backends.b: want a mapping of url, ca_file, credentials, header, same_resource, command, env, split, mirror, era, plain_calls, tool_errors, required_tools, host_tasks, sync_grace, host_grace, hosted_ttl, page_size or strict_task_names, got nothing",
		"bridge.yaml:4: backends.c: want a mapping of url, ca_file, credentials, header, same_resource, command, env, split, mirror, era, plain_calls, tool_errors, required_tools, host_tasks, sync_grace, host_grace, hosted_ttl, page_size or strict_task_names, got a single value",
	}},
	{"a backend is in one place", "backends: {a: {url: http://a.example, command: [x]}}\n", []string{
		"bridge.yaml:1: backends.a: has url and command; a backend is in one place",
		"bridge.yaml:1: backends.a.command: not supported yet",
	}},
	{"what backends cannot do yet", "backends:\n  a: {command: [x], env: {A: b}}\n  b: {split: [{backend: a, weight: 1}]}\n  c: {url: http://c.example, mirror: {backend: a, sample: 0.1}}\n", []string{
		"bridge.yaml:2: backends.a.command: not supported yet",
		"bridge.yaml:2: backends.a.env: not supported yet",
		"bridge.yaml:3: backends.b.split: not supported yet",
		"bridge.yaml:4: backends.c.mirror: not supported yet",
	}},
	{"settings of their own", "backends:\n  a:\n    url: http://a.example\n    era: legacy\n    required_tools: drive\n    host_tasks: slow\n    host_grace: 0s\n    strict_task_names: true\n    same_resource: \"${YES}\"\n", nil},
	{"their defaults", "backends: {a: {url: http://a.example, era: auto, required_tools: refuse, host_tasks: auto, host_grace: 400ms, strict_task_names: false, same_resource: false}, b: {url: http://b.example, era: modern}}\n", nil},
	{"URLs", `backends:
  a: {url: ftp://h.example/}
  b: {url: https:///mcp}
  c: {url: "http://:80/"}
  d: {url: "http://h.example/#top"}
  e: {url: "http://h.example/#"}
  f: {url: "https://user:pass@h.example/"}
  g: {url: "http://h.example:99999/"}
  h: {url: h.example}
  i: {url: "http://h.example:80/mcp?x=1&y=2"}
  j: {url: "http://[::1]:80"}
  k: {url: "HTTPS://h.example"}
`, []string{
		`bridge.yaml:2: backends.a.url: want an http or https URL with a host and without user or fragment, got "ftp://h.example/"`,
		`bridge.yaml:3: backends.b.url: want an http or https URL with a host and without user or fragment, got "https:///mcp"`,
		`bridge.yaml:4: backends.c.url: want an http or https URL with a host and without user or fragment, got "http://:80/"`,
		`bridge.yaml:5: backends.d.url: want an http or https URL with a host and without user or fragment, got "http://h.example/#top"`,
		`bridge.yaml:6: backends.e.url: want an http or https URL with a host and without user or fragment, got "http://h.example/#"`,
		`bridge.yaml:7: backends.f.url: want an http or https URL with a host and without user or fragment, got "https://***@h.example/"`,
		`bridge.yaml:8: backends.g.url: want an http or https URL with a host and without user or fragment, got "http://h.example:99999/"`,
		`bridge.yaml:9: backends.h.url: want an http or https URL with a host and without user or fragment, got "h.example"`,
	}},
	{"credentials", `backends:
  a: {url: http://a.example, credentials: basic}
  b: {url: http://a.example, credentials: static}
  c: {url: http://a.example, credentials: static, header: {name: X-Key}}
  d: {url: http://a.example, credentials: static, header: {value: plain}}
  e: {url: http://a.example, header: {value: "${TOKEN}"}}
  f: {url: http://a.example, credentials: static, header: {value: "Bearer ${TOKEN}"}}
`, []string{
		`bridge.yaml:2: backends.a.credentials: want forward, static or none, got "basic"`,
		"bridge.yaml:3: backends.b.credentials: static needs header: {value: ...}",
		"bridge.yaml:4: backends.c.credentials: static needs header: {value: ...}",
		"bridge.yaml:5: backends.d.header.value: a secret must come from the environment: write ${NAME}",
		"bridge.yaml:6: backends.e.header: is only sent with credentials: static",
	}},
	{"headers", `backends:
  a: {url: http://a.example, credentials: static, header: {name: "X Key", value: "${TOKEN}"}}
  b: {url: http://a.example, credentials: static, header: {name: host, value: "${TOKEN}"}}
  c: {url: http://a.example, credentials: static, header: {name: mcp-session-id, value: "${TOKEN}"}}
  d: {url: http://a.example, credentials: static, header: {value: "${BROKEN}"}}
`, []string{
		`bridge.yaml:2: backends.a.header.name: want the name of an HTTP header, got "X Key"`,
		"bridge.yaml:3: backends.b.header.name: this header is set by the bridge itself",
		"bridge.yaml:4: backends.c.header.name: this header is set by the bridge itself",
		"bridge.yaml:5: backends.d.header.value: want the value of an HTTP header",
	}},
	{"authorities", "backends: {a: {url: https://a.example, ca_file: bridge.yaml}}\n", []string{"bridge.yaml:1: backends.a.ca_file: bridge.yaml holds no certificate"}},
}

func TestBackendFileProblems(t *testing.T) {
	t.Parallel()
	for _, tt := range backendFileCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, got := load(t, tt.file, config.Flags{}, "TOKEN=t", "BROKEN=a\nb", "YES=true")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackendFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		flags []string
		want  []string // name url, or problems
	}{
		{"a URL alone is the default", []string{"http://h.example/mcp"}, []string{"default http://h.example/mcp"}},
		{"an equals sign in a URL does not make a name", []string{"http://h.example/mcp?a=b"}, []string{"default http://h.example/mcp?a=b"}},
		{"names, in order", []string{"b=http://b.example", "a-1=https://a.example/?x=1"}, []string{"b http://b.example", "a-1 https://a.example/?x=1"}},
		{"${ has no meaning here", []string{"http://h.example/${HOME}"}, []string{"default http://h.example/$%7BHOME%7D"}},
		{"a bad name", []string{"My_Backend=http://h.example"}, []string{`--backend My_Backend=http://h.example: "My_Backend" is no name for a backend: want lower-case letters, digits and dashes`}},
		{"a bad URL", []string{"reports=h.example:80"}, []string{`--backend reports=h.example:80: want an http or https URL with a host and without user or fragment, got "h.example:80"`}},
		{"a password is not shown", []string{"reports=http://u:pw@h.example"}, []string{`--backend reports=http://***@h.example: want an http or https URL with a host and without user or fragment, got "http://***@h.example"`}},
		{"named twice", []string{"http://a.example", "default=http://b.example"}, []string{"--backend default=http://b.example: there is a backend named default already (--backend http://a.example)"}},
		{"stdio", []string{"local=stdio:npx -y 'some server'"}, []string{"--backend local=stdio:npx -y 'some server': not supported yet"}},
		{"stdio with an equals sign", []string{"local=stdio:A=b run"}, []string{"--backend local=stdio:A=b run: not supported yet"}},
		{"stdio without a name", []string{"stdio:npx"}, []string{"--backend stdio:npx: a stdio backend needs a name: NAME=stdio:COMMAND"}},
		{"stdio without a command", []string{"a=stdio:"}, []string{"--backend a=stdio:: want a command after stdio:, in words as a shell would split them"}},
		{"stdio with an open quote", []string{"a=stdio:x 'y"}, []string{"--backend a=stdio:x 'y: want a command after stdio:, in words as a shell would split them"}},
		{"empty", []string{""}, []string{"--backend : want an http or https URL with a host and without user or fragment"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, got := load(t, "", config.Flags{Backends: tt.flags})
			if cfg != nil {
				for _, b := range cfg.Backends {
					got = append(got, b.Name+" "+b.URL.String())
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("backends (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStdioBackendIsRefused: as long as there is no process for each principal, there
// is none that two could share (B-U8).
func TestStdioBackendIsRefused(t *testing.T) {
	t.Parallel()
	if cfg, problems := load(t, "", config.Flags{Backends: []string{"local=stdio:server"}}); cfg != nil || len(problems) == 0 {
		t.Errorf("a flag: %+v", cfg)
	}
	if cfg, problems := load(t, "backends:\n  local:\n    command: [server]\n", config.Flags{}); cfg != nil || len(problems) == 0 {
		t.Errorf("a file: %+v", cfg)
	}
}

func TestBackendInFileAndFlag(t *testing.T) {
	t.Parallel()
	_, got := load(t, one, config.Flags{Backends: []string{"a=http://b.example"}})
	want := []string{"--backend a=http://b.example: there is a backend named a already (bridge.yaml:1)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestDemoNames(t *testing.T) {
	t.Parallel()
	text := "backends:\n  demo-modern: {url: http://a.example}\n  demo-legacy: {url: http://a.example}\n"
	if _, got := load(t, text, config.Flags{}); got != nil {
		t.Errorf("without --demo: %q", got)
	}
	_, got := load(t, text, config.Flags{Demo: ptr(true)})
	want := []string{
		"bridge.yaml:2: backends.demo-modern: the name belongs to --demo; choose another",
		"bridge.yaml:3: backends.demo-legacy: the name belongs to --demo; choose another",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	cfg, got := load(t, one+"  \n", config.Flags{Demo: ptr(true)})
	if got != nil {
		t.Fatalf("beside another backend: %q", got)
	}
	if names := []string{cfg.Backends[0].Name, cfg.Backends[1].Name}; !cmp.Equal(names, []string{"a", "demo-modern"}) {
		t.Errorf("backends = %q, want a and then the demo", names)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	cfg, got := load(t, "times: {probe: 1s}\nsecrets: [0123456789abcdef]\n"+one, config.Flags{Set: []string{
		"page_size=5", "defaults.host_tasks=off", "times.call_idle=1m", "times.call_idle=2m",
		"backends.a.era=modern", "backends.a.page_size=7", "backends.b.url=http://b.example/?a=b", "backends.c={url: http://c.example, era: modern}",
		"listen=[::1]:80", "store=memory:", "admin.listen=off", "allowed_hosts=a.example, ::1",
		"faces.legacy.allowed_origins=[https://a.example, http://localhost:1]", "limits={body: 1KiB}", `secrets=["${NEW} ${NEW}"]`,
	}}, "NEW=new secret")
	if got != nil {
		t.Fatalf("problems: %q", got)
	}
	want := defaults()
	want.Listen, want.Admin = "[::1]:80", config.Admin{Off: true}
	want.AllowedHosts = []string{"a.example", "[::1]"}
	want.Faces.Legacy = config.Face{Listen: "[::1]:80", AllowedOrigins: []string{"https://a.example", "http://localhost:1"}}
	want.Faces.Modern.Listen = "[::1]:80"
	want.Store = config.Store{Kind: config.StoreMemory}
	want.Secrets = [][]byte{[]byte("new secret new secret")}
	want.Limits.Body = 1024
	want.Times.Probe, want.Times.CallIdle = time.Second, 2*time.Minute
	want.Defaults.PageSize, want.Defaults.HostTasks = 5, config.HostOff
	for i, era := range []config.Era{config.EraModern, config.EraAuto, config.EraModern} {
		b := config.Backend{Name: string("abc"[i]), Credentials: config.CredentialsForward, Settings: want.Defaults}
		b.URL = mustURL(t, []string{"http://a.example/mcp", "http://b.example/?a=b", "http://c.example"}[i])
		b.Era = era
		want.Backends = append(want.Backends, b)
	}
	want.Backends[0].PageSize = 7
	if diff := cmp.Diff(&want, cfg); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestSetProblems(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ set, want string }{
		{"page_sise=5", "--set page_sise=5: unknown key, did you mean page_size"},
		{"lissten=x", "--set lissten=x: unknown key, did you mean listen"},
		{"qqqqq=x", "--set qqqqq=x: unknown key"},
		{"=x", "--set =x: unknown key"},
		{"page_size", "--set page_size: want KEY=VALUE"},
		{"times.cal_idle=1m", "--set times.cal_idle=1m: unknown key, did you mean times.call_idle"},
		{"backend.a.era=legacy", "--set backend.a.era=legacy: unknown key, did you mean backends"},
		{"backends.a.eras=legacy", "--set backends.a.eras=legacy: unknown key, did you mean backends.a.era"},
		{"backends.A.era=legacy", "--set backends.A.era=legacy: unknown key"},
		{"backends.aa.era=legacy", "--set backends.aa.era=legacy: backends.aa: no backend has this name, did you mean a"},
		{"times.call_idle.x=1", "--set times.call_idle.x=1: unknown key"},
		{"times..x=1", "--set times..x=1: unknown key"},
		{"page_size=many", `--set page_size=many: want a whole number from 1 to 1000, got "many"`},
		{"page_size=", "--set page_size=: want a whole number from 1 to 1000"},
		{"times=5", "--set times=5: want a mapping of session_idle, call_idle, call_total, park, answer, replay_window, poll_floor, hosted_poll, min_ttl, max_ttl, list_retention, probe, reprobe or drain, got a single value"},
		{"times={probe: 1x}", `--set times={probe: 1x}: times.probe: want a time such as 400ms, 5m or 24h, at least 1ms, got "1x"`},
		{"times={probe: 1s, probe: 1s}", "--set times={probe: 1s, probe: 1s}: times.probe: duplicate key"},
		{"times={probe", "--set times={probe: not YAML: could not find flow map content"},
		{"allowed_hosts=a:1,b", `--set allowed_hosts=a:1,b: allowed_hosts[0]: want a host name or address without a port, such as bridge.example or [::1], got "a:1"`},
		{"listen=${NOPE}", "--set listen=${NOPE}: ${NOPE}: not set in the environment"},
		{"auth.issuer=x", "--set auth.issuer=x: means nothing without auth.jwks_url"},
		{"backends.a.command=x", "--set backends.a.command=x: not supported yet"},
		{"backends.b={url: http://b.example, same_resource: yes}", "--set backends.b=***: backends.b.same_resource: want true or false, got \"yes\""},
		{"secrets=short", "--set secrets=***: secrets[0]: want a secret of at least 16 bytes"},
		{"secerts=hunter2hunter2", "--set secerts=***: unknown key, did you mean secrets"},
		{"admin.tokn=hunter2", "--set admin.tokn=***: unknown key, did you mean admin.token"},
		{"backends.a.header.value=hunter2", "--set backends.a.header.value=***: a secret must come from the environment: write ${NAME}"},
		{"admin.listen=10.1.1.1:1", "--set admin.listen=10.1.1.1:1: 10.1.1.1:1 is not loopback, so admin.token is required"},
	} {
		t.Run(tt.set, func(t *testing.T) {
			t.Parallel()
			_, got := load(t, one, config.Flags{Set: []string{tt.set}})
			if len(got) == 0 || (got[0] != tt.want && got[len(got)-1] != tt.want) {
				t.Errorf("problems = %q, want %q", got, tt.want)
			}
			if strings.Contains(strings.Join(got, "\n"), "hunter2") {
				t.Errorf("problems show a secret: %q", got)
			}
		})
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	text := "listen: 127.0.0.1:1\nstore: embedded:file.db\nadmin: {listen: 127.0.0.1:2}\ndefaults: {page_size: 2}\n" + one
	get := func(flags config.Flags, env ...string) []any {
		cfg, problems := load(t, text, flags, env...)
		if problems != nil {
			t.Fatalf("problems: %q", problems)
		}
		var names []string
		for _, b := range cfg.Backends {
			names = append(names, b.Name)
		}
		return []any{cfg.Listen, cfg.Admin.Listen, cfg.Store.Kind, cfg.Defaults.PageSize, strings.Join(names, " ")}
	}
	vars := []string{
		"TASKBRIDGE_LISTEN=127.0.0.1:3", "TASKBRIDGE_ADMIN=off", "TASKBRIDGE_STORE=memory:", "TASKBRIDGE_DEMO=true",
		"TASKBRIDGE_SET=page_size=3\n\n  times.probe=1s\n", "TASKBRIDGE_BACKEND=b=http://b.example\r\nc=http://c.example",
	}
	flags := config.Flags{
		Listen: ptr("127.0.0.1:4"), Admin: ptr("127.0.0.1:5"), Store: ptr("embedded:x"), Demo: ptr(false),
		Set: []string{"page_size=4"}, Backends: []string{"d=http://d.example"},
	}
	for _, tt := range []struct {
		name string
		got  []any
		want []any
	}{
		{"the file", get(config.Flags{}), []any{"127.0.0.1:1", "127.0.0.1:2", config.StoreEmbedded, 2, "a"}},
		{"an empty variable is none", get(config.Flags{}, "TASKBRIDGE_LISTEN=", "TASKBRIDGE_DEMO=", "TASKBRIDGE_SET="), []any{"127.0.0.1:1", "127.0.0.1:2", config.StoreEmbedded, 2, "a"}},
		{"the environment over the file", get(config.Flags{}, vars...), []any{"127.0.0.1:3", "", config.StoreMemory, 3, "a b c demo-modern demo-legacy"}},
		{"flags over the environment", get(flags, vars...), []any{"127.0.0.1:4", "127.0.0.1:5", config.StoreEmbedded, 4, "a d"}},
		{"a flag over TASKBRIDGE_SET", get(config.Flags{Listen: ptr("127.0.0.1:4")}, "TASKBRIDGE_SET=listen=127.0.0.1:9"), []any{"127.0.0.1:4", "127.0.0.1:2", config.StoreEmbedded, 2, "a"}},
		{"--set over a flag", get(config.Flags{Listen: ptr("127.0.0.1:4"), Set: []string{"listen=127.0.0.1:9"}}), []any{"127.0.0.1:9", "127.0.0.1:2", config.StoreEmbedded, 2, "a"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestEnvironmentProblems(t *testing.T) {
	t.Parallel()
	_, got := load(t, "", config.Flags{},
		"TASKBRIDGE_LISTEN=x", "TASKBRIDGE_DEMO=maybe", "TASKBRIDGE_SET=page_sise=5\npage_size=x\nbackends.a.same_resource=on", "TASKBRIDGE_BACKEND=a=stdio:x", "HOME=")
	want := []string{
		"TASKBRIDGE_DEMO=maybe: want true or false",
		`TASKBRIDGE_LISTEN=x: want host:port such as 127.0.0.1:8720 or [::1]:8720, got "x"`,
		"TASKBRIDGE_BACKEND=a=stdio:x: not supported yet",
		"TASKBRIDGE_SET=page_sise=5: unknown key, did you mean page_size",
		`TASKBRIDGE_SET=page_size=x: want a whole number from 1 to 1000, got "x"`,
		`TASKBRIDGE_SET=backends.a.same_resource=on: want true or false, got "on"`,
		"configuration: store: neither XDG_STATE_HOME nor HOME is set; name a file: embedded:PATH",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestConfigFromEnvironment(t *testing.T) {
	t.Parallel()
	file, other := write(t, one), write(t, "lisen: x\n")
	if _, got := load(t, "", config.Flags{}, "TASKBRIDGE_CONFIG="+file); got != nil {
		t.Errorf("TASKBRIDGE_CONFIG: %q", got)
	}
	if _, got := load(t, "", config.Flags{Config: &file}, "TASKBRIDGE_CONFIG="+other); got != nil {
		t.Errorf("--config over TASKBRIDGE_CONFIG: %q", got)
	}
	if _, got := load(t, "", config.Flags{}, "TASKBRIDGE_CONFIG="+other); len(got) == 0 {
		t.Error("a bad file of TASKBRIDGE_CONFIG is no problem")
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	missing := t.TempDir() + "/none.yaml"
	_, err := config.Load(config.Inputs{
		Flags:     config.Flags{Config: &missing, Set: []string{"page_sise=5", "backends.a.era=modern"}, Listen: ptr("0.0.0.0:1")},
		LookupEnv: environment(),
	})
	want := []string{
		"none.yaml: no such file or directory",
		"--set page_sise=5: unknown key, did you mean page_size",
	}
	if diff := cmp.Diff(want, messages(t, err, missing)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestExpansion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path string // path of a.url
		want       string // path of the URL, or the problem
	}{
		{"a variable", "/${A}", "/one"},
		{"two in a row", "/${A}${B_2}", "/onetwo"},
		{"what comes in is not expanded again", "/${NESTED}", "/${A}"},
		{"escaped", "/$${A}", "/${A}"},
		{"a dollar alone", "/$A/$", "/$A/$"},
		{"an empty variable", "/x${EMPTY}", "/x"},
		{"unset", "/${NOPE}", "bridge.yaml:1: backends.a.url: ${NOPE}: not set in the environment"},
		{"no name", "/${}", "bridge.yaml:1: backends.a.url: ${}: not the name of an environment variable; write $${ for a plain ${"},
		{"no such syntax", "/${A:-x}", "bridge.yaml:1: backends.a.url: ${A:-x}: not the name of an environment variable; write $${ for a plain ${"},
		{"not closed", "/${A", "bridge.yaml:1: backends.a.url: ${ without its }; write $${ for a plain ${"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, got := load(t, "backends: {a: {url: \"http://h.example"+tt.path+"\"}}\n", config.Flags{}, "A=one", "B_2=two", "NESTED=${A}", "EMPTY=")
			if cfg != nil {
				got = append(got, cfg.Backends[0].URL.Path)
			}
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Errorf("path (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVariablesAreNotShown(t *testing.T) {
	t.Parallel()
	_, got := load(t, "listen: ${X}\ndefaults: {page_size: \"${X}\", sync_grace: \"${X}\"}\nstore: ${X}\nsecrets: [\"${X}\"]\n"+
		"backends: {a: {url: \"${X}\", header: {name: \"${X} \", value: \"${X}\"}, ca_file: ca.pem}}\n", config.Flags{}, "X=hunter2")
	if len(got) < 6 {
		t.Fatalf("problems = %q, want one for each key", got)
	}
	if all := strings.Join(got, "\n"); strings.Contains(all, "hunter2") || !strings.Contains(all, `got "${X}"`) {
		t.Errorf("problems should quote ${X} and not its value:\n%s", all)
	}
}
