package adapter_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// macros are those of PROTOCOL.md §7. @UM0 and @UMN0 are for a client that declares
// nothing; @MES is all that a client can be asked, and @MTES that with tasks.
//
// Where the backend's plain_calls is sync, a request that is not about a task
// carries @UMN; the cases of §7 are written for plain_calls: drive, where it is
// @UM (PROTOCOL.md "Settled").
var macros = map[string]wire.Value{
	"@UM":   `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"3.1.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`,
	"@UMN":  `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"3.1.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}}`,
	"@UM0":  `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"3.1.0"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`,
	"@UMN0": `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"orbit","version":"3.1.0"},"io.modelcontextprotocol/clientCapabilities":{}}`,
	"@UI":   `{"io.modelcontextprotocol/serverInfo":{"name":"quarry","version":"9.0.2"}}`,

	"@M0":   clientMeta(`{}`),
	"@MT":   clientMeta(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`),
	"@MTE":  clientMeta(`{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`),
	"@ME":   clientMeta(`{"elicitation":{"form":{},"url":{}}}`),
	"@MEF":  clientMeta(`{"elicitation":{"form":{}}}`),
	"@MTS":  clientMeta(`{"sampling":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`),
	"@MES":  clientMeta(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`),
	"@MTES": clientMeta(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`),
	"@SB":   `{"io.modelcontextprotocol/serverInfo":{"name":"basalt","version":"2.4.0"}}`,
}

// clientMeta is what a modern client says of itself with every request.
func clientMeta(capabilities wire.Value) wire.Value {
	return `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"nova","version":"0.9.0"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// setup is the section of that name: how the bridge is set up, and what has
// happened before the conversation. Each line is "key: value".
//
//	cell      the eras of client and server, as modern/legacy; legacy/modern if
//	          nothing is said
//	set       a configuration key, as --set takes it; any number of lines
//	env       NAME=VALUE of the environment; any number of lines
//	session   the revision of a session that is open when the conversation begins,
//	          or none; 2025-11-25 if nothing is said
//	client    the capabilities of that session's client
//	upstream  the capabilities of the server that the session has been told of
//	tools     unlisted: the session's client has not listed the server's tools, of
//	          which there are none otherwise; or an array: the tools that a legacy
//	          server lists by itself
//	version   the revision that a legacy server chooses; 2025-11-25 if nothing is said
//	ids       none: a legacy server gives no session ids
//	errors    logged: the bridge may log errors
//	filter    hit: the leak filter stops something, which is what it is for between
//	          peers of one era, and logs that
//
// The bridge has the backends quarry and basalt, of the server's era unless that is
// set. Conversations with a modern server take place behind quarry, those with a
// legacy one behind basalt.
type setup struct {
	cell     cell
	set      []string
	env      map[string]string
	session  string
	client   wire.Value
	upstream wire.Value
	unlisted bool
	tools    wire.Value
	version  string
	noIDs    bool
	errors   bool
	filter   bool
}

// era is the era of a peer.
type era string

const (
	legacyEra era = "legacy"
	modernEra era = "modern"
)

// cell is who talks to whom.
type cell struct{ client, upstream era }

// cells are all of them.
var cells = map[string]cell{
	"legacy/modern": {legacyEra, modernEra}, "modern/legacy": {modernEra, legacyEra},
	"legacy/legacy": {legacyEra, legacyEra}, "modern/modern": {modernEra, modernEra},
}

// backend is the backend behind which the conversation takes place.
func (s *setup) backend() string {
	if s.cell.upstream == legacyEra {
		return "basalt"
	}
	return "quarry"
}

// The defaults are those of PROTOCOL.md §7.
const (
	clientCapabilities   = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}}`
	upstreamCapabilities = `{"tools":{},"resources":{"subscribe":true},"prompts":{},"logging":{},"completions":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	latest               = "2025-11-25"

	legacyCapabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"completions":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
	legacyTools        = `[{"name":"echo","inputSchema":{"type":"object"}},{"name":"core","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}},{"name":"bore","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},{"name":"drill","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]`
)

// defaults are what a setup says that says nothing.
func defaults(c cell) setup {
	s := setup{
		cell: c, session: latest, client: clientCapabilities, upstream: upstreamCapabilities, version: latest, tools: legacyTools,
		set: []string{"era=" + string(c.upstream)}, env: map[string]string{},
	}
	if c.client == modernEra {
		s.session = "none"
	}
	if c.upstream == legacyEra {
		s.upstream = legacyCapabilities
	}
	return s
}

func parseSetup(text []byte) (setup, error) {
	s := defaults(cells["legacy/modern"])
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		var err error
		switch key {
		case "cell":
			c, known := cells[value]
			if !known || len(s.set) > 1 || len(s.env) > 0 {
				err = fmt.Errorf("want two eras, before everything else, got %q", value)
			}
			s = defaults(c)
		case "set":
			s.set = append(s.set, value)
		case "env":
			name, val, _ := strings.Cut(value, "=")
			s.env[name] = val
		case "session":
			s.session = value
		case "client":
			s.client, err = wire.Check([]byte(value))
		case "upstream":
			s.upstream, err = wire.Check([]byte(value))
		case "tools":
			if s.unlisted = value == "unlisted"; !s.unlisted {
				s.tools, err = wire.Check([]byte(value))
			}
		case "version":
			s.version = value
		case "ids":
			s.noIDs = value == "none"
		case "errors":
			s.errors = value == "logged"
		case "filter":
			s.filter = value == "hit"
		default:
			err = fmt.Errorf("unknown")
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", key, err)
		}
	}
	return s, nil
}

// discover is what the upstream has said of itself before the conversation. It
// holds for long, so that it is not asked again.
func (s *setup) discover() wire.Value {
	return `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + s.upstream +
		`,"ttlMs":86400000,"cacheScope":"public","_meta":` + macros["@UI"] + `}`
}

// tools is what the client has been told of the server's tools before the
// conversation. It holds for long, too.
const tools = `{"resultType":"complete","tools":[],"ttlMs":86400000,"cacheScope":"public"}`

func (s *setup) initialize() wire.Value {
	return `{"jsonrpc":"2.0","id":"handshake","method":"initialize","params":{"protocolVersion":"` + wire.Value(s.session) +
		`","capabilities":` + s.client + `,"clientInfo":{"name":"orbit","version":"3.1.0"}}}`
}

// configuration is that of the command with a store in memory. Processes that share
// one have the same secrets.
func (s *setup) configuration(shared bool) (*config.Config, error) {
	set := s.set
	if shared {
		set = append([]string{"secrets=[a secret of all processes]"}, set...)
	}
	store, admin := "memory:", "off"
	return config.Load(config.Inputs{
		Flags: config.Flags{
			Backends: []string{"quarry=http://quarry.test/mcp", "basalt=http://basalt.test/mcp"},
			Store:    &store, Admin: &admin, Set: set,
		},
		LookupEnv: func(name string) (string, bool) {
			value, found := s.env[name]
			return value, found
		},
	})
}

// seeded is the clock of the bubble and randomness that is the same in every run, and
// another for each process.
type seeded struct {
	env.Env
	random *lockedRandom
}

func newSeeded(n int) seeded {
	return seeded{env.System(), &lockedRandom{source: rand.NewChaCha8([32]byte{1, byte(n)})}}
}

// Random implements [env.Env].
func (s seeded) Random() io.Reader { return s.random }

type lockedRandom struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

// Read implements [io.Reader].
func (r *lockedRandom) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Read(p)
}
