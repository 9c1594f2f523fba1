package config

import (
	"net/netip"
	"net/url"
	"time"
)

// table is the one source of what a configuration may say. Keys that others
// take their value from come before those others.
var table = object[Config]{
	key("listen", func(c *Config) *string { return &c.Listen }, address, "127.0.0.1:8720",
		"Address shared by the faces that have none of their own."),
	key("tls", func(c *Config) **TLS { return &c.TLS }, pointer[TLS]{object[TLS]{
		key("cert", func(t *TLS) *string { return &t.CertFile }, fileName, "",
			"PEM file of the certificate chain, leaf first."),
		key("key", func(t *TLS) *string { return &t.KeyFile }, fileName, "",
			"PEM file of the private key."),
	}}, "", "Certificate of every listener; without it they speak plain HTTP."),
	key("admin", func(c *Config) *Admin { return &c.Admin }, object[Admin]{
		key("listen", func(a *Admin) *string { return &a.Listen }, adminAddress, "127.0.0.1:8721",
			"Address of health, metrics and console, or off."),
		key("token", func(a *Admin) *string { return &a.Token }, secretText, "",
			"Token that callers must present; required off loopback."),
	}, "", "The admin listener."),
	key("allowed_hosts", func(c *Config) *[]string { return &c.AllowedHosts }, list[string]{item: hostName, least: 1},
		`[localhost, 127.0.0.1, "[::1]"]`,
		"Names that a Host header may carry. A listener off loopback needs its own list."),
	key("trusted_proxies", func(c *Config) *[]netip.Prefix { return &c.TrustedProxies }, list[netip.Prefix]{item: network}, "",
		"Networks of the reverse proxies in front of the bridge, whose X-Forwarded-For says which address limits count. Nobody else's does."),
	key("faces", func(c *Config) *Faces { return &c.Faces }, object[Faces]{
		key("legacy", func(f *Faces) *Face { return &f.Legacy }, faceShape, "", "The 2025-11-25 face, at /legacy/{backend}."),
		key("modern", func(f *Faces) *Face { return &f.Modern }, faceShape, "", "The 2026-07-28 face, at /modern/{backend}."),
	}, "", "What is spoken to clients."),
	key("store", func(c *Config) *Store { return &c.Store }, storeURL, "embedded:",
		"Where state is kept: embedded: (under the user's state directory), embedded:PATH, redis:// and its variants for several replicas, or memory: for tests."),
	key("secrets", func(c *Config) *[][]byte { return &c.Secrets }, list[[]byte]{item: sealSecret, least: 1}, "",
		"Sealing secrets of at least 16 bytes, current first, then old ones that are still accepted. Without them the store makes its own; redis:// needs them."),
	key("auth", func(c *Config) *Auth { return &c.Auth }, authShape, "", "Verification of callers, and where they log in."),
	key("limits", func(c *Config) *Limits { return &c.Limits }, limitsShape, "", "Bounds of sizes and counts."),
	key("times", func(c *Config) *Times { return &c.Times }, timesShape, "", "Bounds of waits and lifetimes."),
	key("defaults", func(c *Config) *Settings { return &c.Defaults }, settingsShape, "",
		"Settings of backends that name none of their own."),
	{
		key: "backends", doc: "The servers behind the bridge, by name.", shape: backendsShape{},
		read:   func(d *decoder, n *node, path string, c *Config) { backendsShape{}.read(d, n, path, c) },
		preset: func(*decoder, *Config) {},
	},
}

var authShape = object[Auth]{
	key("jwks_url", func(a *Auth) **url.URL { return &a.JWKSURL }, endpoint, "",
		"Key set that verifies tokens. With it every caller needs a token; without it the backends verify."),
	key("issuer", func(a *Auth) *string { return &a.Issuer }, text, "", "Issuer that tokens must name, exactly; needed with jwks_url."),
	key("audience", func(a *Auth) *string { return &a.Audience }, text, "",
		"Audience that tokens may name beside the URL of the route below public_url. One of both is needed with jwks_url."),
	key("public_url", func(a *Auth) **url.URL { return &a.PublicURL }, publicURL, "",
		"Address of the bridge as clients know it, for metadata; needed off loopback."),
	key("authorization_servers", func(a *Auth) *[]string { return &a.AuthorizationServers }, list[string]{item: serverURL, least: 1}, "",
		"Issuers that clients get tokens from: by default auth.issuer, or those that the backend names."),
}

var faceShape = object[Face]{
	key("listen", func(f *Face) *string { return &f.Listen }, address, "", "Address of its own."),
	key("off", func(f *Face) *bool { return &f.Off }, boolean, "false", "Whether this face has no routes."),
	key("allowed_origins", func(f *Face) *[]string { return &f.AllowedOrigins }, list[string]{item: origin}, "",
		"Web origins that may call this face, also through CORS."),
}

var limitsShape = object[Limits]{
	key("body", func(l *Limits) *int64 { return &l.Body }, size, "4MiB", "Largest message from a client."),
	key("result", func(l *Limits) *int64 { return &l.Result }, size, "32MiB", "Largest message from a backend."),
	key("inflight_bytes", func(l *Limits) *int64 { return &l.InflightBytes }, size, "1GiB",
		"What all messages being handled may hold together."),
	key("sessions", func(l *Limits) *int { return &l.Sessions }, count(1, 10_000_000), "10000", "Legacy sessions."),
	key("sessions_per_address", func(l *Limits) *int { return &l.SessionsPerAddress }, count(1, 10_000_000), "200",
		"Legacy sessions of one client address."),
	key("streams_per_session", func(l *Limits) *int { return &l.StreamsPerSession }, count(1, 10_000), "8",
		"Event streams of one session."),
	key("connections", func(l *Limits) *int { return &l.Connections }, count(1, 10_000_000), "20000",
		"Connections of clients; at most three quarters of the files that the process may open."),
	key("connections_per_address", func(l *Limits) *int { return &l.ConnectionsPerAddress }, count(1, 10_000_000), "2000",
		"Connections of one client address. Those of trusted proxies count among all only."),
	key("header_timeout", func(l *Limits) *time.Duration { return &l.HeaderTimeout }, duration(time.Millisecond), "10s",
		"How long a client may take to send its headers."),
}

var timesShape = object[Times]{
	key("session_idle", func(t *Times) *time.Duration { return &t.SessionIdle }, duration(time.Second), "1h",
		"End of an unused session."),
	key("call_idle", func(t *Times) *time.Duration { return &t.CallIdle }, duration(time.Millisecond), "5m",
		"End of a backend call without a sign of life."),
	key("call_total", func(t *Times) *time.Duration { return &t.CallTotal }, duration(time.Millisecond), "1h",
		"End of any backend call."),
	key("park", func(t *Times) *time.Duration { return &t.Park }, duration(time.Millisecond), "10m",
		"How long a call is held open for an answer."),
	key("answer", func(t *Times) *time.Duration { return &t.Answer }, duration(time.Millisecond), "10m",
		"How long a client may take to answer the questions of a plain call."),
	key("replay_window", func(t *Times) *time.Duration { return &t.ReplayWindow }, duration(0), "5m",
		"How long a tools/call goes on after its client was lost."),
	key("poll_floor", func(t *Times) *time.Duration { return &t.PollFloor }, duration(time.Millisecond), "100ms",
		"Least time between two polls of one task."),
	key("hosted_poll", func(t *Times) *time.Duration { return &t.HostedPoll }, duration(time.Millisecond), "1s",
		"Poll interval of hosted tasks."),
	key("min_ttl", func(t *Times) *time.Duration { return &t.MinTTL }, duration(time.Millisecond), "60s",
		"Least lifetime of a hosted task."),
	key("max_ttl", func(t *Times) *time.Duration { return &t.MaxTTL }, duration(time.Millisecond), "24h",
		"Greatest lifetime of a hosted task."),
	key("list_retention", func(t *Times) *time.Duration { return &t.ListRetention }, duration(time.Second), "168h",
		"How long a task without a lifetime stays listed."),
	key("probe", func(t *Times) *time.Duration { return &t.Probe }, duration(time.Millisecond), "5s",
		"Bound of one probe of a backend's era."),
	key("reprobe", func(t *Times) *time.Duration { return &t.Reprobe }, duration(time.Second), "24h",
		"How long a legacy verdict holds."),
	key("drain", func(t *Times) *time.Duration { return &t.Drain }, duration(0), "20s",
		"Bound of a graceful shutdown."),
}

var settingsShape = object[Settings]{
	key("era", func(s *Settings) *Era { return &s.Era }, choice(EraAuto, EraLegacy, EraModern), "auto",
		"Protocol of the backend; auto probes it."),
	key("plain_calls", func(s *Settings) *PlainCalls { return &s.PlainCalls }, choice(PlainSync, PlainDrive), "sync",
		"Whether a legacy call without task declares the tasks extension (drive) or not (sync)."),
	key("tool_errors", func(s *Settings) *ToolErrors { return &s.ToolErrors }, choice(ToolErrorsFailed, ToolErrorsCompleted), "failed",
		"Status that a legacy client sees of a task that ended in a tool error."),
	key("required_tools", func(s *Settings) *RequiredTools { return &s.RequiredTools }, choice(RequiredRefuse, RequiredDrive), "refuse",
		"What a modern client without tasks gets from a tool that requires a task."),
	key("host_tasks", func(s *Settings) *HostTasks { return &s.HostTasks }, choice(HostAuto, HostOff, HostSlow), "auto",
		"Whether slow calls of modern clients become tasks where their tool makes none: on a backend that has tasks, unless progress is wanted (auto), on any (slow), or never (off)."),
	key("sync_grace", func(s *Settings) *time.Duration { return &s.SyncGrace }, duration(0), "3s",
		"Wait before a slow legacy task call becomes a hosted task."),
	key("host_grace", func(s *Settings) *time.Duration { return &s.HostGrace }, duration(0), "400ms",
		"The same wait on the modern face, with host_tasks."),
	key("hosted_ttl", func(s *Settings) *time.Duration { return &s.HostedTTL }, duration(time.Millisecond), "1h",
		"Lifetime of a hosted task if none was asked for."),
	key("page_size", func(s *Settings) *int { return &s.PageSize }, count(1, 1000), "50",
		"Tasks on a page of tasks/list."),
	key("strict_task_names", func(s *Settings) *bool { return &s.StrictTaskNames }, boolean, "false",
		"Whether tasks/* calls of modern clients must carry Mcp-Name."),
}
