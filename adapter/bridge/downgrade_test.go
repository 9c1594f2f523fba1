package bridge_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/pump"
	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// session is a scripted [bridge.Lease].
type session struct {
	about wire.Value
	none  bool // it has no standing stream
	// lost and missed are closed by tests; now is the session that is lent, unless
	// it is this one.
	lost, missed chan struct{}
	now          *session
	do           func(ctx context.Context, call port.SessionCall) (wire.Value, error)

	mu       sync.Mutex
	calls    []port.SessionCall
	said     []string // by the bridge, besides requests
	hear     func(jsonrpc.Message)
	deaf     bool // it takes no response
	released int
}

func (s *session) Ticket() port.Ticket   { return port.Ticket{ID: "s1", Version: "2025-11-25"} }
func (s *session) About() wire.Value     { return s.about }
func (s *session) Lost() <-chan struct{} { return s.lost }
func (s *session) Close(context.Context) {}

// Standing is that of a session whose stream tests have break.
func (s *session) Standing(context.Context) (bool, <-chan struct{}) { return !s.none, s.missed }

func (s *session) Session() port.Session {
	if s.now != nil {
		return s.now
	}
	return s
}
func (s *session) Place() bridge.Place          { return bridge.Place{Ticket: s.Ticket()} }
func (s *session) Linger()                      {}
func (s *session) Leave()                       {}
func (s *session) Pin() func()                  { return func() {} }
func (s *session) Hear(h func(jsonrpc.Message)) { s.hear = h }
func (s *session) note(what string)             { s.mu.Lock(); defer s.mu.Unlock(); s.said = append(s.said, what) }

func (s *session) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released++
}

func (s *session) Do(ctx context.Context, call port.SessionCall) (wire.Value, error) {
	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	if call.OnID != nil {
		call.OnID("7")
	}
	return s.do(ctx, call)
}

func (s *session) Notify(_ context.Context, method string, params wire.Value) error {
	s.note(method + " " + string(params))
	return nil
}

func (s *session) Respond(ctx context.Context, response []byte) error {
	s.note(string(response))
	if s.deaf {
		<-ctx.Done()
	}
	return context.Cause(ctx)
}

// heard returns and forgets what the bridge has said.
func (s *session) heard() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	said := s.said
	s.said = nil
	return said
}

// down is a crossing in front of one scripted legacy session.
type down struct {
	t       *testing.T
	cross   *bridge.Downgrade
	lot     *park.Lot
	tasks   *pump.Manager
	backend *bridge.LegacyBackend
	session *session
	leases  []bridge.LeaseOptions
	refuse  error
}

// pumpOf keeps the tasks of one backend, in memory.
func pumpOf(t *testing.T, keys *seal.Keys, b *bridge.LegacyBackend, owners func(port.Caller) []string) *pump.Manager {
	t.Helper()
	store, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	process, err := replica.New(t.Context(), replica.Options{Keys: keys, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := pump.New(pump.Options{
		Store: store, Process: process, Keys: keys, Env: env.System(), Logger: slog.New(slog.DiscardHandler), Owners: owners,
		Sessions: bridge.NewLender([]*bridge.LegacyBackend{b}, owners), Dialect: bridge.LegacyTasks{},
		Times: pump.Times{
			PollFloor: 100 * time.Millisecond, PollDefault: time.Second, PollCeiling: 30 * time.Second, HostedPoll: time.Second,
			MinTTL: time.Minute, MaxTTL: 24 * time.Hour, Retention: time.Hour,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tasks
}

var errUnreachable = &port.UpstreamError{Op: "initialize", Err: errors.New("connection refused")}

func downgrade(t *testing.T, test func(d *down)) {
	t.Helper()
	t.Parallel()
	downgradeAlone(t, test)
}

// downgradeAlone is downgrade for a test that runs beside no other.
func downgradeAlone(t *testing.T, test func(d *down)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		keys, err := seal.New([][]byte{[]byte("0123456789abcdef")}, env.System().Random())
		if err != nil {
			t.Fatal(err)
		}
		d := &down{
			t: t, lot: park.NewLot(env.System(), keys, "process", park.Times{Window: 50 * time.Millisecond, Park: 10 * time.Minute, Keep: time.Minute}),
			session: &session{about: `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{},"tasks":{}},"serverInfo":{"name":"basalt","version":"1"},"instructions":"dig"}`},
		}
		owners := func(caller port.Caller) []string {
			return []string{"owner of " + caller.Principal, "former owner of " + caller.Principal}
		}
		d.backend = &bridge.LegacyBackend{
			Name: "basalt", HostedTTL: time.Hour, Authorization: func(caller port.Caller) string { return caller.Authorization },
			Lease: func(_ context.Context, o bridge.LeaseOptions) (bridge.Lease, error) {
				d.leases = append(d.leases, o)
				return d.session, d.refuse
			},
			Resume: func(context.Context, bridge.Place, bridge.LeaseOptions) (bridge.Lease, error) {
				return d.session, d.refuse
			},
		}
		d.tasks = pumpOf(t, keys, d.backend, owners)
		d.cross, err = bridge.NewDowngrade(bridge.DowngradeOptions{
			Lot: d.lot, Rounds: roundsOf(t, keys), Tasks: d.tasks, Env: env.System(), Logger: slog.New(slog.DiscardHandler), Times: bridge.Times{CallTotal: time.Hour},
			Owners: owners, Backends: []*bridge.LegacyBackend{d.backend},
		})
		if err != nil {
			t.Fatal(err)
		}
		test(d)
		for _, end := range []func(context.Context) error{d.tasks.Close, d.lot.Close, d.cross.Close} {
			if err := end(context.WithoutCancel(t.Context())); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	})
}

const novaMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"nova","version":"0.9.0"},"io.modelcontextprotocol/clientCapabilities":{}`

// request makes a request of a modern client with these capabilities.
func (d *down) request(ctx context.Context, method, params string, capabilities wire.Value) (port.Outcome, []string) {
	d.t.Helper()
	var sent []string
	out := d.cross.Request(ctx, &port.Exchange{
		Backend: "basalt", Stream: &stream{sent: &sent},
		Caller: port.Caller{
			Principal: "p", Version: "2026-07-28", ClientInfo: `{"name":"nova","version":"0.9.0"}`, Capabilities: capabilities,
			Authorization: "Bearer n", LogLevel: "warning",
		},
		Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: method, Params: wire.Value(params)},
	})
	return out, sent
}

const info = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"basalt","version":"1"}}`

// TestDowngradeForward: what a backend answers without asking (B-L4, B-L5, B-U1,
// §1.6, §3.3).
func TestDowngradeForward(t *testing.T) {
	downgrade(t, func(d *down) {
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/progress", Params: `{"progressToken":1,"progress":1}`})
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/progress", Params: `{"progressToken":9,"progress":2}`})
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/progress", Params: `{"progressToken":1,"progress":0.5}`})
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/message", Params: `{"level":"info","data":1}`})
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/message", Params: `{"level":"error","data":2}`})
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/tools/list_changed"})
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "0", Method: "roots/list"})
			return `{"prompts":[],"nextCursor":"n"}`, nil
		}
		out, sent := d.request(d.t.Context(), "prompts/list", `{"cursor":"c",`+novaMeta+`,"progressToken":"t"}}`, `{}`)
		if want := wire.Value(`{"resultType":"complete","prompts":[],"nextCursor":"n","ttlMs":0,"cacheScope":"private",` + info + `}`); compact(t, string(out.Result)) != compact(t, string(want)) {
			t.Errorf("%s %v\nwant %s", out.Result, out.Err, want)
		}
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":2}}`,
		}
		if !slices.Equal(sent, want) {
			t.Errorf("ahead of it %q", sent)
		}
		if call := d.session.calls[0]; call.Method != "prompts/list" || call.Params != `{"cursor":"c","_meta":{"progressToken":1}}` {
			t.Errorf("the backend got %s %s", call.Method, call.Params)
		}
		if said := d.session.heard(); len(said) != 1 || !strings.Contains(said[0], `"id":0,"error":{"code":-32601`) {
			t.Errorf("B-P6: a question during a list: %q", said)
		}
		lease := d.leases[0]
		if lease.Owner != "owner of p" || lease.Exclusive || lease.Hello.Capabilities != `{}` || lease.Hello.Authorization != "Bearer n" || lease.Hello.ClientInfo != `{"name":"nova","version":"0.9.0"}` {
			t.Errorf("leased with %+v", lease)
		}
		out, _ = d.request(d.t.Context(), "server/discover", `{`+novaMeta+`}}`, `{}`)
		discovered := `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{}},"instructions":"dig","ttlMs":0,"cacheScope":"private",` + info + `}`
		if compact(t, string(out.Result)) != compact(t, discovered) {
			t.Errorf("discovered %s %v\nwant %s", out.Result, out.Err, discovered)
		}
		if d.session.released != 2 {
			t.Errorf("released %d times", d.session.released)
		}
	})
}

// TestDowngradeErrors: how the end of a request is told (§1.6, §1.8).
func TestDowngradeErrors(t *testing.T) {
	downgrade(t, func(d *down) {
		for _, tt := range []struct {
			method string
			err    error
			code   int64
			status int
		}{
			{"prompts/list", jsonrpc.NewError(-32002, "gone"), -32602, 0},
			{"prompts/list", jsonrpc.NewError(-32050, "odd"), -32603, 0},
			{"prompts/list", jsonrpc.NewError(7, "own"), 7, 0},
			{"tools/call", jsonrpc.NewError(-32042, "visit"), -32603, 0},
			{"prompts/list", errUnreachable, -32603, 0},
			{"initialize", nil, -32601, http.StatusNotFound},
			{"ping", nil, -32601, http.StatusNotFound},
			{"tasks/result", nil, -32601, http.StatusNotFound},
			{"tasks/get", nil, -32021, http.StatusBadRequest},
			{"roots/list", nil, -32601, http.StatusNotFound},
			{"notifications/progress", nil, -32601, http.StatusNotFound},
		} {
			d.session.do = func(context.Context, port.SessionCall) (wire.Value, error) { return "", tt.err }
			before := len(d.session.calls)
			out, _ := d.request(d.t.Context(), tt.method, `{"name":"a",`+novaMeta+`}}`, `{}`)
			var status *port.StatusError
			got := 0
			if errors.As(out.Err, &status) {
				got = status.Status
			}
			if code := port.RPCError(out.Err).Code; code != tt.code || got != tt.status || (tt.err == nil) != (len(d.session.calls) == before) {
				t.Errorf("%s %v: %d, HTTP %d", tt.method, tt.err, code, got)
			}
		}
		d.refuse = errUnreachable
		for _, method := range []string{"server/discover", "tools/list", "tools/call"} {
			if out, _ := d.request(d.t.Context(), method, `{"name":"a",`+novaMeta+`}}`, `{}`); port.RPCError(out.Err).Code != -32603 {
				t.Errorf("B-L4 %s: %v", method, out.Err)
			}
		}
	})
}

const asked = `{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}`

// asksTwice is a call during which a backend asks, takes one question back and ends
// with what it was told.
func (d *down) asks(ids ...string) {
	d.session.do = func(ctx context.Context, call port.SessionCall) (wire.Value, error) {
		for _, id := range ids {
			call.OnMessage(jsonrpc.Message{
				Kind: jsonrpc.KindRequest, ID: wire.Value(id), Method: "elicitation/create",
				Params: `{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}},"_meta":{"x":1},"task":{"ttl":1}}`,
			})
		}
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
}

// TestParkedCall: a backend's questions become entries, and the answers its responses,
// while its request stays in flight (B-P1 to B-P4, B-P8).
func TestParkedCall(t *testing.T) {
	downgrade(t, func(d *down) {
		end := make(chan wire.Value)
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			for _, id := range []string{"0", `"q"`} {
				call.OnMessage(jsonrpc.Message{
					Kind: jsonrpc.KindRequest, ID: wire.Value(id), Method: "elicitation/create",
					Params: `{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}},"_meta":{"x":1},"task":{"ttl":1}}`,
				})
			}
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/cancelled", Params: `{"requestId":"q"}`})
			return <-end, nil
		}
		const capabilities = `{"elicitation":{}}`
		out, _ := d.request(d.t.Context(), "tools/call", `{"name":"blast","arguments":{"kg":1.0},`+novaMeta+`}}`, capabilities)
		state := string(out.Result.Get("requestState"))
		if want := `{"resultType":"input_required","inputRequests":{"elicitation-1":` + asked + `},"requestState":` + state + `,` + info + `}`; string(out.Result) != want {
			t.Fatalf("%s %v\nwant %s", out.Result, out.Err, want)
		}
		if !d.leases[0].Exclusive || d.leases[0].Hello.Capabilities != capabilities {
			t.Errorf("leased with %+v", d.leases[0])
		}
		retry := func(arguments, answers string) port.Outcome {
			out, _ := d.request(d.t.Context(), "tools/call", `{"name":"blast","arguments":`+arguments+`,"inputResponses":`+answers+`,"requestState":`+state+`,`+novaMeta+`}}`, capabilities)
			return out
		}
		for name, out := range map[string]port.Outcome{
			"B-P2 other arguments":  retry(`{"kg":2.0}`, `{}`),
			"B-P3 no object":        retry(`{"kg":1.0}`, `[]`),
			"B-I7 no answer at all": retry(`{"kg":1.0}`, `{"elicitation-1":{"action":"perhaps"}}`),
		} {
			if port.RPCError(out.Err).Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s: %s %v", name, out.Result, out.Err)
			}
		}
		out = retry(`{"kg":1.0}`, `{"other":{"action":"accept"}}`)
		state = string(out.Result.Get("requestState"))
		if out.Result.Get("inputRequests") != `{"elicitation-1":`+asked+`}` {
			t.Fatalf("B-P3 asked again: %s %v", out.Result, out.Err)
		}
		if said := d.session.heard(); len(said) != 0 {
			t.Errorf("the backend was told %q", said)
		}
		go func() { end <- `{"content":[]}` }()
		out = retry(`{"kg":1.0}`, `{"elicitation-1":{"action":"accept","content":{"ok":true}}}`)
		if compact(t, string(out.Result)) != compact(t, `{"resultType":"complete","content":[],`+info+`}`) {
			t.Errorf("%s %v", out.Result, out.Err)
		}
		if said := d.session.heard(); !slices.Equal(said, []string{`{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{"ok":true}}}`}) {
			t.Errorf("the backend was told %q", said)
		}
		if again := retry(`{"kg":1.0}`, `{}`); again.Result != out.Result {
			t.Errorf("B-P4 told again: %s %v", again.Result, again.Err)
		}
		if len(d.session.calls) != 1 || d.session.released != 1 {
			t.Errorf("%d calls, released %d times", len(d.session.calls), d.session.released)
		}
	})
}

// TestAskedTwice: what a backend says once more, on whatever stream, is one question;
// an id that is used again is another (B-P1, PROTOCOL §9).
func TestAskedTwice(t *testing.T) {
	downgrade(t, func(d *down) {
		ask := func(message string) jsonrpc.Message {
			return jsonrpc.Message{
				Kind: jsonrpc.KindRequest, ID: "0", Method: "elicitation/create",
				Params: wire.Value(`{"message":"` + message + `","requestedSchema":{"type":"object","properties":{}}}`),
			}
		}
		next := make(chan string)
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			for message := range next {
				call.OnMessage(ask(message))
				d.session.hear(ask(message))
			}
			return `{"content":[]}`, nil
		}
		state := ""
		step := func(answers, want string, messages ...string) {
			d.t.Helper()
			go func() {
				for _, message := range messages {
					next <- message
				}
			}()
			retry := ""
			if state != "" {
				retry = `"inputResponses":` + answers + `,"requestState":` + state + `,`
			}
			out, _ := d.request(d.t.Context(), "tools/call", `{"name":"blast",`+retry+novaMeta+`}}`, `{"elicitation":{}}`)
			state = string(out.Result.Get("requestState"))
			got := ""
			for m := range out.Result.Get("inputRequests").Members() {
				got += m.Name + " " + string(m.Value.Get("params").Get("message")) + " "
			}
			if got != want {
				d.t.Errorf("asked %s%v, want %s", got, out.Err, want)
			}
		}
		step("", `elicitation-1 "a" `, "a")
		step(`{"elicitation-1":{"action":"decline"}}`, `elicitation-2 "a" `, "a")
		step(`{"elicitation-2":{"action":"decline"}}`, `elicitation-4 "c" `, "b", "c")
		if said := d.session.heard(); len(said) != 2 {
			d.t.Errorf("the backend was told %q", said)
		}
		close(next)
	})
}

// TestHostedQuestion: a backend is not to blame for its silence while the client of a
// task of the bridge has a question to answer (G-8, host_tasks).
func TestHostedQuestion(t *testing.T) {
	downgrade(t, func(d *down) {
		d.backend.HostSlow, d.backend.HostGrace = true, time.Second
		for _, after := range []time.Duration{0, 2 * time.Second} {
			answers := make(chan time.Duration, 1)
			d.session.do = func(ctx context.Context, call port.SessionCall) (wire.Value, error) {
				if call.Method != "tools/call" {
					return `{"tools":[]}`, nil
				}
				time.Sleep(after)
				call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "0", Method: "elicitation/create", Params: `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`})
				if err := env.Sleep(ctx, env.System(), 6*time.Minute); err != nil {
					return "", err
				}
				answers <- time.Since(call.Waited())
				return `{"content":[]}`, nil
			}
			out := d.taskCall(`{"elicitation":{}}`)
			if out.Err != nil {
				d.t.Fatal(out.Err)
			}
			if quiet := <-answers; quiet != 0 {
				d.t.Errorf("asked after %v: %v of silence are held against the backend", after, quiet)
			}
		}
	})
}

// taskCall makes a call of a client with these capabilities and tasks.
func (d *down) taskCall(capabilities wire.Value) port.Outcome {
	d.t.Helper()
	var sent []string
	return d.cross.Request(d.t.Context(), &port.Exchange{
		Backend: "basalt", Stream: &stream{sent: &sent},
		Caller:  port.Caller{Principal: "p", Version: "2026-07-28", Capabilities: capabilities, Tasks: true},
		Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "tools/call", Params: `{"name":"dig",` + novaMeta + `}}`},
	})
}

// TestParkedCallAbandoned: a client that leaves before it was asked has cancelled, and
// one that does not come back has as well, later (B-P5, §1.7).
func TestParkedCallAbandoned(t *testing.T) {
	downgrade(t, func(d *down) {
		d.asks()
		ctx, cancel := context.WithTimeout(d.t.Context(), time.Second)
		defer cancel()
		if out, _ := d.request(ctx, "tools/call", `{"name":"a",`+novaMeta+`}}`, `{}`); out.Err == nil {
			t.Errorf("told %s", out.Result)
		}
		const cancelled = `notifications/cancelled {"requestId":7,"reason":"the client has gone"}`
		if said := d.session.heard(); !slices.Equal(said, []string{cancelled}) {
			t.Errorf("the backend was told %q", said)
		}
		d.asks("3")
		if out, _ := d.request(d.t.Context(), "tools/call", `{"name":"a",`+novaMeta+`}}`, `{"elicitation":{}}`); !out.Result.Get("requestState").Present() {
			t.Fatalf("told %s %v", out.Result, out.Err)
		}
		time.Sleep(10*time.Minute + time.Second)
		if said := d.session.heard(); !slices.Equal(said, []string{`{"jsonrpc":"2.0","id":3,"result":{"action":"cancel"}}`, cancelled}) {
			t.Errorf("the backend was told %q", said)
		}
		if d.session.released != 2 {
			t.Errorf("released %d times", d.session.released)
		}
	})
}

// TestUndeclaredQuestion: a backend asks what the client has not declared. It is
// refused, and the call goes on; an error it ends in is told as the lack of the
// capability (B-P7, B-U7).
func TestUndeclaredQuestion(t *testing.T) {
	downgrade(t, func(d *down) {
		fails := true
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			for method, params := range map[string]wire.Value{"sampling/createMessage": `{"messages":[],"maxTokens":1}`} {
				call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: method, Params: params})
			}
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "2", Method: "tasks/list"})
			if fails {
				return "", jsonrpc.NewError(-32603, "no model")
			}
			return `{"content":[]}`, nil
		}
		out, _ := d.request(d.t.Context(), "tools/call", `{"name":"a",`+novaMeta+`}}`, `{"elicitation":{"url":{}}}`)
		var status *port.StatusError
		if !errors.As(out.Err, &status) || status.Status != http.StatusBadRequest || status.Err.Code != -32021 || status.Err.Data != `{"requiredCapabilities":{"sampling":{}}}` {
			t.Errorf("told %s %v", out.Result, out.Err)
		}
		said := d.session.heard()
		if len(said) != 2 || !strings.Contains(said[0], `"id":1,"error":{"code":-32601`) || !strings.Contains(said[1], `"id":2,"error":{"code":-32601`) {
			t.Errorf("the backend was told %q", said)
		}
		fails = false
		if out, _ := d.request(d.t.Context(), "tools/call", `{"name":"a",`+novaMeta+`}}`, `{"elicitation":{"url":{}}}`); out.Err != nil {
			t.Errorf("a result was not passed: %v", out.Err)
		}
		d.session.heard()
		d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
			call.OnMessage(jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "elicitation/create", Params: `{"message":"?","requestedSchema":{}}`})
			return `{"content":[]}`, nil
		}
		if out, _ := d.request(d.t.Context(), "tools/call", `{"name":"a",`+novaMeta+`}}`, `{"elicitation":{"url":{}}}`); out.Err != nil {
			t.Errorf("a result was not passed: %v", out.Err)
		}
		if said := d.session.heard(); len(said) != 1 || !strings.Contains(said[0], `"error":{"code":-32602`) {
			t.Errorf("a mode that was not declared: %q", said)
		}
	})
}

// TestDowngradeTrueErrors: a backend's error as a modern client may see it (§1.6).
func TestDowngradeTrueErrors(t *testing.T) {
	sampling := wire.Value(`{"requiredCapabilities":{"roots":{},"sampling":{},"extensions":{"x":{}}}}`)
	for _, tt := range []struct {
		name, method string
		err          error
		status       int
		code         int64
		data         wire.Value
	}{
		{"what the client lacks indeed", "tools/call", &jsonrpc.Error{Code: -32021, Message: "m", Data: sampling}, 400, -32021, `{"requiredCapabilities":{"sampling":{}}}`},
		{"what it has", "tools/call", &jsonrpc.Error{Code: -32021, Message: "m", Data: `{"requiredCapabilities":{"roots":{}}}`}, 0, -32603, `{"originalCode":-32021,"originalData":{"requiredCapabilities":{"roots":{}}}}`},
		{"nothing readable", "tools/call", &jsonrpc.Error{Code: -32021, Message: "m", Data: `{"requiredCapabilities":{"sampling":null}}`}, 0, -32603, `{"originalCode":-32021,"originalData":{"requiredCapabilities":{"sampling":null}}}`},
		{"an unknown method", "vendor/x", &jsonrpc.Error{Code: -32601, Message: "m"}, 404, -32601, ""},
		{"an unknown tool", "tools/call", &jsonrpc.Error{Code: -32601, Message: "m"}, 0, -32601, ""},
		{"an unknown method without words", "vendor/x", &port.UpstreamError{Op: "vendor/x", Status: 400}, 404, -32601, ""},
		{"a known method without words", "prompts/list", &port.UpstreamError{Op: "prompts/list", Status: 400}, 0, -32603, ""},
		{"an unknown method and an outage", "vendor/x", &port.UpstreamError{Op: "vendor/x", Status: 503}, 0, -32603, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			downgrade(t, func(d *down) {
				d.session.do = func(context.Context, port.SessionCall) (wire.Value, error) { return "", tt.err }
				out, _ := d.request(d.t.Context(), tt.method, `{"name":"dig",`+novaMeta+`}}`, `{"roots":{}}`)
				var status *port.StatusError
				if got := errors.As(out.Err, &status); got != (tt.status != 0) || got && status.Status != tt.status {
					d.t.Errorf("§1.6 %v, want status %d", out.Err, tt.status)
				}
				if rpc := port.RPCError(out.Err); rpc.Code != tt.code || rpc.Data != tt.data {
					d.t.Errorf("§1.6 told %d %s", rpc.Code, rpc.Data)
				}
			})
		})
	}
}

// TestDowngradeFault: a fault of the bridge ends the call it happens in, and nothing
// else.
func TestDowngradeFault(t *testing.T) {
	for _, method := range []string{"tools/call", "prompts/get"} {
		t.Run(method, func(t *testing.T) {
			downgrade(t, func(d *down) {
				d.session.do = func(_ context.Context, call port.SessionCall) (wire.Value, error) {
					var none *wire.Value
					if call.Method == method {
						return *none, nil
					}
					return `{"tools":[]}`, nil
				}
				out, _ := d.request(d.t.Context(), method, `{"name":"dig",`+novaMeta+`}}`, `{"roots":{}}`)
				if rpc := port.RPCError(out.Err); rpc == nil || rpc.Code != jsonrpc.CodeInternal || rpc.Message != "Internal error" {
					d.t.Errorf("told %v", out.Err)
				}
			})
		})
	}
}
