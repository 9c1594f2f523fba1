package config

import (
	"net/netip"
	"net/url"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state/redis/redisurl"
)

// Config is a complete, checked configuration: defaults are filled in, names
// are resolved, and no field needs a second look before it is used.
type Config struct {
	// Listen is the host:port that faces without an address of their own share.
	Listen string
	// TLS is the certificate of every listener; nil means plain HTTP.
	TLS *TLS
	// Admin is the listener for health, metrics and the console.
	Admin Admin
	// AllowedHosts are the names a Host header may carry, lower case, without
	// port; an IPv6 address stands in brackets. Never empty.
	AllowedHosts []string
	// TrustedProxies are the networks of the reverse proxies in front of the bridge,
	// which are believed about the addresses of clients. Empty for none.
	TrustedProxies []netip.Prefix
	// Faces are the two eras spoken to clients.
	Faces Faces
	// Store says where state is kept.
	Store Store
	// Secrets are the sealing secrets, current first, then older ones that are
	// still accepted. Empty means that the store makes and keeps its own, which
	// StoreRedis does not.
	Secrets [][]byte
	// Auth says how callers are verified and where they log in.
	Auth Auth
	// Limits bound sizes and counts.
	Limits Limits
	// Times bound every wait and lifetime.
	Times Times
	// Defaults are the settings of a backend that names none of its own. They
	// are already merged into each of Backends.
	Defaults Settings
	// Backends are the servers behind the bridge: in file order, then those of
	// the environment or command line, then the demo. Never empty.
	Backends []Backend
}

// TLS names a certificate chain and its key, both PEM files.
type TLS struct {
	// CertFile is the chain, leaf first.
	CertFile string
	// KeyFile is the private key of the leaf.
	KeyFile string
}

// Admin is the third listener.
type Admin struct {
	// Off means that there is none; Listen is then empty.
	Off bool
	// Listen is its host:port.
	Listen string
	// Token must be presented by callers; empty only on a loopback address.
	Token string
}

// Auth says how callers are verified and where they log in. The zero value verifies
// nobody: backends do, with the credentials that are forwarded to them.
type Auth struct {
	// JWKSURL is the key set that verifies tokens; nil means that the bridge
	// verifies none.
	JWKSURL *url.URL
	// Issuer is what tokens must name as iss; not empty with JWKSURL.
	Issuer string
	// Audience is what tokens may name as aud, beside the URL of the route below
	// PublicURL; empty means only that. With JWKSURL one of both is there.
	Audience string
	// PublicURL is the address of the bridge as clients know it, without a final
	// slash; nil means that they know it by the address it listens on.
	PublicURL *url.URL
	// AuthorizationServers are the issuers, URLs, that clients get tokens from.
	// Empty means those that the backend names; never empty with JWKSURL.
	AuthorizationServers []string
}

// Verifies reports whether the bridge verifies its callers itself.
func (a *Auth) Verifies() bool { return a.JWKSURL != nil }

// Faces holds one Face for each era.
type Faces struct {
	// Legacy speaks 2025-11-25 at /legacy/{backend}.
	Legacy Face
	// Modern speaks 2026-07-28 at /modern/{backend}.
	Modern Face
}

// Face is the side of the bridge that clients of one era see.
type Face struct {
	// Off means that no route of this era exists.
	Off bool
	// Listen is the host:port of this face: its own, or Config.Listen.
	Listen string
	// AllowedOrigins are the web origins that may call and get CORS answers,
	// lower case, scheme://host[:port]. Empty means none.
	AllowedOrigins []string
}

// StoreKind says which implementation of state is used.
type StoreKind string

// The kinds of store.
const (
	// StoreEmbedded is one SQLite file, locked by one process.
	StoreEmbedded StoreKind = "embedded"
	// StoreMemory forgets everything at exit; it is meant for tests.
	StoreMemory StoreKind = "memory"
	// StoreRedis is shared by several replicas.
	StoreRedis StoreKind = "redis"
)

// Store says where state is kept.
type Store struct {
	// Kind is the implementation.
	Kind StoreKind
	// Path is the database file of StoreEmbedded; its folder may not exist yet.
	Path string
	// Redis is the address of StoreRedis, and nil otherwise. The names of its
	// files are absolute. It holds passwords.
	Redis *redisurl.Address
}

// Limits bound sizes and counts. Sizes are bytes; all are above zero.
type Limits struct {
	// Body is the largest message accepted from a client.
	Body int64
	// Result is the largest message accepted from a backend.
	Result int64
	// InflightBytes is what all messages being handled may hold together.
	InflightBytes int64
	// Sessions is how many legacy sessions may exist.
	Sessions int
	// SessionsPerAddress is how many of them one client address may hold.
	SessionsPerAddress int
	// StreamsPerSession is how many event streams one session may hold open.
	StreamsPerSession int
	// Connections counts those of clients, ConnectionsPerAddress those of one client
	// address.
	Connections, ConnectionsPerAddress int
	// HeaderTimeout is how long a client may take to send its request headers.
	HeaderTimeout time.Duration
}

// Times bound every wait and lifetime.
type Times struct {
	// SessionIdle ends a legacy session that is not used.
	SessionIdle time.Duration
	// CallIdle ends a backend call that shows no sign of life.
	CallIdle time.Duration
	// CallTotal ends a backend call whatever it shows.
	CallTotal time.Duration
	// Park is how long a call is held open for an answer (B-P5).
	Park time.Duration
	// Answer is how long a client may take to answer the questions of a plain
	// call (A-M2). Those of a task stay open as long as the task.
	Answer time.Duration
	// ReplayWindow is how long a tools/call goes on after its client was lost
	// (A-L18).
	ReplayWindow time.Duration
	// PollFloor is the least time between two polls of one task.
	PollFloor time.Duration
	// HostedPoll is the poll interval told for hosted tasks (A-T8).
	HostedPoll time.Duration
	// MinTTL and MaxTTL are the least and the greatest lifetime of a hosted
	// task (A-T11).
	MinTTL, MaxTTL time.Duration
	// ListRetention is how long a task without a lifetime stays listed.
	ListRetention time.Duration
	// Probe bounds one probe of a backend's era.
	Probe time.Duration
	// Reprobe is how long a legacy verdict holds (G-13).
	Reprobe time.Duration
	// Drain bounds a graceful shutdown.
	Drain time.Duration
}

// Era says which protocol a backend speaks.
type Era string

// The eras a backend can be declared as.
const (
	// EraAuto probes the backend (PROTOCOL.md §1.10).
	EraAuto Era = "auto"
	// EraLegacy is 2025-11-25.
	EraLegacy Era = "legacy"
	// EraModern is 2026-07-28 with the tasks extension.
	EraModern Era = "modern"
)

// PlainCalls says how a legacy tools/call without task is made (§4.3).
type PlainCalls string

// The ways of plain calls.
const (
	// PlainSync does not declare the tasks extension (A-T15).
	PlainSync PlainCalls = "sync"
	// PlainDrive declares it and drives the task inside the bridge (A-T12).
	PlainDrive PlainCalls = "drive"
)

// ToolErrors says which status a modern task that ended in a tool error shows
// to a legacy client (Q3).
type ToolErrors string

// The statuses of tool errors.
const (
	// ToolErrorsFailed shows it as failed, as 2025-11-25 says.
	ToolErrorsFailed ToolErrors = "failed"
	// ToolErrorsCompleted keeps it completed.
	ToolErrorsCompleted ToolErrors = "completed"
)

// RequiredTools says what a modern client without the tasks extension gets
// from a legacy tool that requires a task (Q7).
type RequiredTools string

// The answers for such tools.
const (
	// RequiredRefuse answers -32021.
	RequiredRefuse RequiredTools = "refuse"
	// RequiredDrive runs the task inside the bridge.
	RequiredDrive RequiredTools = "drive"
)

// HostTasks says whether slow calls of modern clients, those that outlast
// Settings.HostGrace, become hosted tasks on a legacy backend.
type HostTasks string

// The choices for hosting.
const (
	// HostAuto hosts calls on a backend that has tasks for other tools, unless the
	// client wants to be told of the progress of the call: tasks have none.
	HostAuto HostTasks = "auto"
	// HostOff never hosts.
	HostOff HostTasks = "off"
	// HostSlow hosts every slow call, also on a backend without tasks, which then
	// announces them (B02).
	HostSlow HostTasks = "slow"
)

// Settings are the choices made for each backend.
type Settings struct {
	// Era is the protocol the backend speaks.
	Era Era
	// PlainCalls, ToolErrors, RequiredTools and HostTasks are described at
	// their types.
	PlainCalls    PlainCalls
	ToolErrors    ToolErrors
	RequiredTools RequiredTools
	HostTasks     HostTasks
	// SyncGrace is the wait before a slow legacy task call is hosted (A-T9).
	SyncGrace time.Duration
	// HostGrace is the same wait on the modern face (HostTasks).
	HostGrace time.Duration
	// HostedTTL is the lifetime of a hosted task if none was asked for (A-T11).
	HostedTTL time.Duration
	// PageSize is the number of tasks on a page of tasks/list.
	PageSize int
	// StrictTaskNames refuses tasks/* calls of modern clients without Mcp-Name.
	StrictTaskNames bool
}

// Credentials says what a backend is shown of the caller's identity.
type Credentials string

// The kinds of credentials.
const (
	// CredentialsForward passes the caller's Authorization to this backend.
	CredentialsForward Credentials = "forward"
	// CredentialsStatic sends Backend.Header.
	CredentialsStatic Credentials = "static"
	// CredentialsNone sends none.
	CredentialsNone Credentials = "none"
)

// Header is one HTTP header of requests to a backend. Its value is a secret.
type Header struct {
	// Name is the canonical header name.
	Name string
	// Value is sent as it stands.
	Value string
}

// Backend is one server behind the bridge. Exactly one of URL and Demo is set.
type Backend struct {
	// Name is the {backend} of its routes.
	Name string
	// URL is its http or https endpoint; nil for a demo.
	URL *url.URL
	// Demo names the built-in server that stands in for a URL, DemoModern or
	// DemoLegacy; empty for a real backend.
	Demo string
	// CAFile is a PEM file of the authorities trusted for this backend in place
	// of the system's; empty means the system's.
	CAFile string
	// Credentials is what the backend is shown of the caller.
	Credentials Credentials
	// Header is the header of CredentialsStatic, else the zero value.
	Header Header
	// SameResource says that bridge and backend are one protected resource, so
	// that a verified token may be forwarded. It matters only with a key set.
	SameResource bool
	// Settings are the defaults with this backend's own choices on top.
	Settings
}

// The names of the built-in servers and of their backends.
const (
	// DemoModern speaks 2026-07-28 with the tasks extension, DemoLegacy 2025-11-25.
	DemoModern = "demo-modern"
	DemoLegacy = "demo-legacy"
)
