package adapter_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/golden"
	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/golden/goldentest"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// replicas is how many processes a conversation is spread over.
const replicas = 3

// TestConversationsReplicas plays every conversation against three processes that
// share a store, each request of the client at another of them (DESIGN.md §4, promise
// 5). What clients see is what one process says, byte for byte. Servers see the same,
// but for what each process has to learn for itself: see repeats.
func TestConversationsReplicas(t *testing.T) {
	for mode, order := range map[string]func(dice *rand.Rand, turn int) int{
		inTurn:   func(_ *rand.Rand, turn int) int { return turn % replicas },
		atRandom: func(dice *rand.Rand, _ int) int { return dice.IntN(replicas) },
		rolling:  func(_ *rand.Rand, turn int) int { return turn % replicas },
	} {
		t.Run(mode, func(t *testing.T) {
			goldentest.Run(t, "../testdata/golden", goldentest.Suite{
				Dir:    "conversation",
				Schema: golden.Schema{Inputs: []string{"setup"}, Outputs: []string{"conversation"}},
				Func: func(t *testing.T, c *goldentest.Case) {
					text, _ := c.Optional("setup")
					seed := fnv.New64a()
					_, _ = seed.Write([]byte(c.Name()))
					if (seed.Sum64()+uint64(len(mode)))%thin != 0 {
						t.Skip("others are played under the race detector")
					}
					converse(t, c, text, &spread{
						order: order, rolls: mode == rolling, excepted: exceptions[c.Name()].in(mode),
						dice: rand.New(rand.NewPCG(7, seed.Sum64())),
					})
				},
			})
		})
	}
}

// spread says how the requests of a client are spread over processes.
type spread struct {
	order    func(dice *rand.Rand, turn int) int
	dice     *rand.Rand
	rolls    bool   // a process that has served is replaced as soon as nothing is open
	excepted string // why the conversation cannot pass, or ""

	// Of a conversation that is placed; see there.
	at     []int
	before map[int]func(*player)

	turn   int
	last   int // the process that has served last, of those that run now
	failed string
}

// exception is why a conversation cannot pass, in which modes.
type exception struct {
	why   string
	modes []string
}

func (e exception) in(mode string) string {
	if slices.Contains(e.modes, mode) {
		return e.why
	}
	return ""
}

// fleet is the bridge of a conversation: one process, or several of one store.
type fleet struct {
	log   *record
	store state.Store // that they share; nil for one
	nodes []*running
	left  []*running // that were replaced
	begun int        // so many processes
}

// launch starts the bridge. What the client sends goes to front, unless it is spread
// over several processes.
func (p *player) launch(front *memnet.Listener) {
	if p.spread == nil {
		p.bridge.nodes = []*running{start(p.t, &p.setup, front, p.upstream, p.bridge.log, nil, 0)}
		return
	}
	store, err := embedded.Open(p.t.Context(), embedded.Options{Memory: true, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		p.t.Fatal(err)
	}
	p.bridge.store = store
	for range replicas {
		p.bridge.nodes = append(p.bridge.nodes, p.another())
	}
	p.client.via = func() *http.Client {
		s := p.spread
		if s.rolls && s.turn > 0 {
			p.roll()
		}
		switch {
		case s.order != nil:
			s.last = s.order(s.dice, s.turn)
			s.turn++
		case p.step != nil:
			s.last = s.at[s.turn]
			s.turn++
		}
		p.note("(at %d)", s.last)
		return p.bridge.nodes[s.last].http
	}
}

// another starts one more process.
func (p *player) another() *running {
	p.bridge.begun++
	n, front, store := p.bridge.begun-1, memnet.Listen(), &mortal{Store: p.bridge.store}
	r := start(p.t, &p.setup, front, p.upstream, &record{before: &store.dead, of: p.bridge.log}, store, n)
	r.kill = func() {
		store.dead.Store(true)
		_ = front.Close()
		p.upstream.cut(n)
	}
	r.dead = &store.dead
	return r
}

// roll replaces the process that has served last, if nothing is open at all that a
// client or a server may see end: no request, no stream that is come back to, none on
// which the server has something to say yet.
func (p *player) roll() {
	synctest.Wait()
	if p.stopping || len(p.news()) > 0 || p.upstream.busy() {
		return
	}
	for _, step := range p.script.Steps[max(0, p.upstream.shared.step):] {
		_, resumes := step.Facts.Header("Last-Event-ID")
		pushes := step.Leg == conversation.UpstreamToBridge && strings.HasPrefix(step.Facts.On, http.MethodGet)
		if resumes || pushes {
			return
		}
	}
	for _, x := range p.client.all() {
		if ended, _ := x.ends(); !ended {
			return
		}
	}
	old := p.bridge.nodes[p.spread.last]
	old.stop()
	synctest.Wait()
	p.bridge.left = append(p.bridge.left, old)
	p.bridge.nodes[p.spread.last] = p.another()
	p.note("(process %d in the place of %d)", p.bridge.begun-1, p.spread.last)
}

// stop begins the shutdown of every process.
func (f *fleet) stop() {
	for _, r := range f.nodes {
		r.stop()
	}
}

// drained stops every process and returns how that ended.
func (f *fleet) drained() (err error) {
	f.stop()
	for _, r := range append(f.left, f.nodes...) {
		if end := r.drained(); r.dead == nil || !r.dead.Load() {
			err = errors.Join(err, end)
		}
	}
	if f.store != nil {
		err = errors.Join(err, f.store.Close())
		f.store = nil
	}
	return err
}

// repeats are what a server says to every process of the bridge as it has said it to
// one. A conversation shows once what each process learns for itself: what the server
// is, which tools it has, that a session is open, and a standing stream.
type repeats struct {
	script *conversation.Script
	legacy *legacyServer

	mu    sync.Mutex
	step  int
	said  map[string]repeat // what was said last, by what was asked
	known map[string]int    // which of them a process was told last, by process and what was asked
	count int
}

// repeat is an answer that is given again.
type repeat struct {
	reply
	number int
	node   int
}

// repeated are the methods that every process may ask a server for once more.
var repeated = map[string]bool{
	"server/discover": true, "tools/list": true,
	wire.MethodInitialize: true, http.MethodGet: true, http.MethodDelete: true,
}

func newRepeats(script *conversation.Script, legacy *legacyServer) *repeats {
	return &repeats{script: script, legacy: legacy, said: map[string]repeat{}, known: map[string]int{}}
}

// at notes where the conversation is.
func (r *repeats) at(step int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step = step
}

// asked is what a request asks for.
func (a *arrival) asked() string {
	if a.http != http.MethodPost {
		return a.http
	}
	return a.method()
}

// kinds tell apart what may have different answers, the nearest first.
func (a *arrival) kinds() [2]string {
	params := wire.Value(a.body).Get("params")
	kind := a.asked() + " " + string(params.Get("cursor"))
	return [2]string{kind + " " + a.header.Get("Authorization") + " " + string(params.Get("_meta")), kind}
}

// resumes reports whether a request asks for the rest of a stream, which only one
// process does.
func (a *arrival) resumes() bool { return a.header.Get("Last-Event-Id") != "" }

// remember keeps what the conversation has the server say to a process.
func (r *repeats) remember(a *arrival, answer reply) {
	if r == nil || !repeated[a.asked()] || a.resumes() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	for _, kind := range a.kinds() {
		if old, found := r.said[kind]; found && isResult(old.body) && !isResult(answer.body) {
			continue // what holds is what was said before
		}
		r.said[kind] = repeat{answer, r.count, a.node}
		r.known[fmt.Sprint(a.node, kind)] = r.count
	}
}

func isResult(body string) bool { return wire.Value(body).Get("result").Present() }

// expected reports whether the conversation expects a request before a peer says
// something again, beside those that wait.
func (r *repeats) expected(a *arrival, waiting []*arrival) bool {
	n := 0
	for i, step := range r.script.Steps[r.step:] {
		if i > 0 && (step.Leg == conversation.ClientToBridge || step.Leg == conversation.UpstreamToBridge) {
			break
		}
		method, _ := step.Message.Get("method").Text()
		_, resumes := step.Facts.Header("Last-Event-Id")
		if step.Leg == conversation.BridgeToUpstream && (method == a.asked() || step.Facts.Method == a.asked()) && !resumes {
			n++
		}
	}
	for _, other := range waiting {
		if other.asked() == a.asked() && !other.resumes() {
			n--
		}
	}
	return n > 0
}

// serve answers a request that is none of the conversation's.
func (r *repeats) serve(a *arrival, waiting []*arrival) (reply, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.legacy != nil && a.asked() == "notifications/initialized" {
		if _, repeats := r.legacy.standsFor(a.header.Get("Mcp-Session-Id")); repeats {
			a.auto = true
			return reply{facts: conversation.Facts{Status: http.StatusAccepted}, last: true}, true
		}
	}
	kinds := a.kinds()
	last, found := r.said[kinds[0]]
	if kind := kinds[1]; !found {
		last, found = r.said[kind]
		kinds[0] = kind
	}
	know := fmt.Sprint(a.node, kinds[0])
	if !found || a.resumes() || last.node == a.node || r.known[know] == last.number || r.expected(a, waiting) {
		return reply{}, false
	}
	r.known[know] = last.number
	a.auto = true
	again := last.reply
	again.body = rid(again.body, a)
	if a.asked() == wire.MethodInitialize && r.legacy != nil {
		again.facts.Headers = nil
		for _, h := range last.facts.Headers {
			if h.Name == "Mcp-Session-Id" {
				h.Value = r.legacy.reopen(h.Value)
			}
			again.facts.Headers = append(again.facts.Headers, h)
		}
	}
	return again, true
}

// unrepeated returns the headers of a request as the conversation spells them: each
// process has sessions of its own where it shows one.
func (p *player) unrepeated(a *arrival) http.Header {
	if p.upstream.shared == nil || p.upstream.legacy == nil || p.spread.at != nil {
		return a.header
	}
	got := a.header.Clone()
	id := got.Get("Mcp-Session-Id")
	if like, repeats := p.upstream.legacy.standsFor(id); repeats {
		got.Set("Mcp-Session-Id", like)
	}
	for i, h := range p.step.Facts.Headers {
		if h.Name != "Mcp-Session-Id" || p.m.MatchText(h.Value, got.Get(h.Name)) {
			continue
		}
		if name, ok := strings.CutSuffix(h.Value, ">"); ok {
			p.step.Facts.Headers = slices.Clone(p.step.Facts.Headers)
			p.step.Facts.Headers[i].Value = fmt.Sprintf("%s of process %d>", name, a.node)
		}
	}
	return got
}

// rid is an answer with the id of another request.
func rid(body string, a *arrival) string {
	v := wire.Value(body)
	if !v.Get("id").Present() {
		return body
	}
	member, value := "result", v.Get("result")
	if !value.Present() {
		member, value = "error", v.Get("error")
	}
	return `{"jsonrpc":"2.0","id":` + string(wire.Value(a.body).Get("id")) + `,"` + member + `":` + string(value) + `}`
}
