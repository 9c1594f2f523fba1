package adapter_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/internal/faultnet"
	"github.com/taskbridge/taskbridge/internal/golden/conversation"
	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// upstream is the server of a conversation. A modern one answers nothing by itself.
type upstream struct {
	events chan<- struct{} // told of everything that happens
	leg    *faultnet.Proxy // on the way to it; nil for a way without faults
	legacy *legacyServer   // what a legacy one does by itself; nil for a modern one
	shared *repeats        // what it says again to other processes; nil if there are none

	mu       sync.Mutex
	listener *memnet.Listener
	server   *http.Server
	served   sync.WaitGroup
	nodes    map[string]int // processes of the bridge, by the address of a connection
	conns    map[int][]net.Conn
	lost     map[int]bool // processes that have died
	arrived  []*arrival   // what no step has expected yet
	open     []*arrival   // what some step has
}

// arrival is a request of the bridge.
type arrival struct {
	id      wire.Value // as the conversation spells it, once a step has expected it
	node    int        // the process of the bridge
	http    string     // the method of HTTP
	host    string
	header  http.Header
	body    []byte
	at      time.Time
	replies chan reply
	done    chan struct{} // closed when its handler has ended
	auto    bool          // the server deals with it by itself

	mu      sync.Mutex
	over    bool      // the conversation knows that it has ended
	aborted time.Time // when the bridge dropped it
}

// reply is what the server does next in an exchange.
type reply struct {
	facts conversation.Facts
	body  string
	last  bool // nothing follows
}

func newUpstream(events chan<- struct{}, legacy *legacyServer) *upstream {
	u := &upstream{events: events, legacy: legacy, nodes: map[string]int{}, conns: map[int][]net.Conn{}, lost: map[int]bool{}}
	u.up()
	return u
}

func (u *upstream) up() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.listener = memnet.Listen()
	u.server = &http.Server{Handler: u}
	server, listener := u.server, u.listener
	u.served.Go(func() { _ = server.Serve(listener) })
}

// down breaks every connection and refuses new ones.
func (u *upstream) down() {
	u.mu.Lock()
	server := u.server
	for _, a := range append(u.open, u.arrived...) {
		a.finish()
	}
	u.mu.Unlock()
	_ = server.Close()
}

// dialer returns what connects a process of the bridge.
func (u *upstream) dialer(node int) func(ctx context.Context, network, address string) (net.Conn, error) {
	if u.leg != nil {
		return u.leg.Dial
	}
	return u.reach(node)
}

// reach returns what connects a process without a fault.
func (u *upstream) reach(node int) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		u.mu.Lock()
		listener, lost := u.listener, u.lost[node]
		u.mu.Unlock()
		if lost {
			return nil, net.ErrClosed
		}
		conn, err := listener.Dial(ctx, network, address)
		if err == nil {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.nodes[conn.LocalAddr().String()] = node
			u.conns[node] = append(u.conns[node], conn)
		}
		return conn, err
	}
}

// cut breaks the connections of a process that has died.
func (u *upstream) cut(node int) {
	u.mu.Lock()
	u.lost[node] = true
	all := u.conns[node]
	u.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// ServeHTTP implements [http.Handler].
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the bridge has dropped it before it was sent
	}
	if _, err := wire.Check(body); err != nil && len(body) > 0 {
		http.Error(w, err.Error(), http.StatusBadRequest) // it was broken on its way
		return
	}
	r.Header.Set("Host", r.Host) // net/http keeps it apart
	u.mu.Lock()
	node := u.nodes[r.RemoteAddr]
	u.mu.Unlock()
	a := &arrival{
		node: node, http: r.Method, host: r.Host, header: r.Header, body: body, at: time.Now(),
		replies: make(chan reply), done: make(chan struct{}),
	}
	defer func() {
		close(a.done)
		u.happened()
	}()
	first, auto := u.arrive(a)
	if auto {
		first.write(w, false)
		if first.last {
			return
		}
	}
	u.happened()
	for begun := auto; ; begun = true {
		select {
		case next := <-a.replies:
			next.write(w, begun)
			if next.last {
				return
			}
		case <-r.Context().Done():
			a.mu.Lock()
			a.aborted = time.Now()
			a.mu.Unlock()
			return
		}
	}
}

// arrive notes a request, and returns what the server says to it by itself, if
// anything: then that it goes on, or ends, is no news.
func (u *upstream) arrive(a *arrival) (first reply, auto bool) {
	if u.legacy != nil {
		first, auto = u.legacy.serve(a)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !auto && u.shared != nil {
		first, auto = u.shared.serve(a, u.arrived)
	}
	if !auto {
		u.arrived = append(u.arrived, a)
		return first, false
	}
	a.over, a.id = true, wire.Value(a.http)
	if !first.last {
		u.open = append(u.open, a)
	}
	return first, true
}

// session names the session that a request of the bridge belongs to. Those that
// open one are of a session each; at a server without sessions, those of a process
// belong together.
func (u *upstream) session(a *arrival) string {
	if a.method() == wire.MethodInitialize {
		return fmt.Sprintf("opened by %p", a)
	}
	if session := a.header.Get("Mcp-Session-Id"); session != "" {
		return a.host + " " + session
	}
	return fmt.Sprint(a.host, " of ", a.node)
}

func (u *upstream) happened() {
	select {
	case u.events <- struct{}{}:
	default:
	}
}

// write sends a reply. What comes first decides the form of the answer: a stream
// if more is to follow.
func (n *reply) write(w http.ResponseWriter, begun bool) {
	stream := begun || !n.last || n.facts.Form == conversation.SSE
	text := n.body + strings.Repeat(" ", n.facts.Pad)
	if !begun {
		w.Header().Set("Content-Type", "application/json")
		if stream {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		for _, h := range n.facts.Headers {
			w.Header().Set(h.Name, h.Value)
		}
		w.WriteHeader(max(n.facts.Status, http.StatusOK))
	}
	switch {
	case n.facts.Event != "":
		text = "id: " + n.facts.Event + "\ndata: " + text + "\n\n"
	case !stream || text == "":
	case n.facts.Raw:
		text += "\n\n"
	default:
		text = "data: " + text + "\n\n"
	}
	if n.facts.Act == conversation.Cut {
		text = text[:len(text)/2]
	}
	_, _ = io.WriteString(w, text)
	control := http.NewResponseController(w)
	_ = control.Flush()
	if n.facts.Act == conversation.Cut {
		if conn, _, err := control.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

// send makes the server do something in an exchange and returns false when that
// has ended.
func (a *arrival) send(r reply) bool {
	if r.last {
		a.finish()
	}
	select {
	case a.replies <- r:
		return true
	case <-a.done:
		return false
	}
}

// finish says that the exchange has ended and that this is no news.
func (a *arrival) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
}

// dropped returns when the bridge has dropped the exchange, unless that is known.
func (a *arrival) dropped() (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.aborted, !a.over && !a.aborted.IsZero()
}

// method returns the method of the request.
func (a *arrival) method() string {
	method, _ := wire.Value(a.body).Get("method").Text()
	return method
}

// silent reports whether it can have no response.
func (a *arrival) silent() bool {
	return a.http == http.MethodPost && !(wire.Value(a.body).Get("method").Present() && wire.Value(a.body).Get("id").Present())
}

// waiting returns the requests that no step has expected yet.
func (u *upstream) waiting() []*arrival {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]*arrival(nil), u.arrived...)
}

// tellOthers says something in every session but that of an exchange, as servers tell
// of a change: each process has a session.
func (u *upstream) tellOthers(but *arrival, what reply) {
	u.mu.Lock()
	newest := map[string]*arrival{u.session(but): nil}
	for i := len(u.open) - 1; i >= 0; i-- {
		a := u.open[i]
		if _, told := newest[u.session(a)]; a.http == http.MethodGet && !told {
			newest[u.session(a)] = a
		}
	}
	u.mu.Unlock()
	for _, a := range newest {
		if a != nil {
			_ = a.send(what) // or it has ended
		}
	}
}

// busy reports whether a request of the bridge has no answer yet, beside the streams
// that stand by themselves.
func (u *upstream) busy() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, a := range append(u.open, u.arrived...) {
		select {
		case <-a.done:
		default:
			if !a.auto {
				return true
			}
		}
	}
	return false
}

// take marks a request as expected, under this id.
func (u *upstream) take(a *arrival, id wire.Value) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, other := range u.arrived {
		if other == a {
			u.arrived = append(u.arrived[:i:i], u.arrived[i+1:]...)
			break
		}
	}
	a.id = id
	u.open = append(u.open, a)
}

// find returns the newest exchange of a name, as GET, or of a method of HTTP and a
// session, as GET LS-1; of an empty name the newest request.
func (u *upstream) find(id wire.Value) *arrival {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := len(u.open) - 1; i >= 0; i-- {
		a := u.open[i]
		session := wire.Value(a.http + " " + a.header.Get("Mcp-Session-Id"))
		if a.id == id || session == id || id == "" && !a.auto && !a.silent() {
			return a
		}
	}
	return nil
}

// news lists what no step has expected, with the time at which it happened. That
// the bridge drops what is open is no news while it shuts down.
func (u *upstream) news(stopping bool) (all []news) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, a := range u.arrived {
		what := "b>u "
		if a.http != http.MethodPost {
			what += "[" + a.http + " | Mcp-Session-Id: " + a.header.Get("Mcp-Session-Id") + "]"
		}
		all = append(all, news{a.at, what + string(a.body)})
	}
	for _, a := range u.open {
		if at, dropped := a.dropped(); dropped && !stopping {
			all = append(all, news{at, "b>u [abort | on " + string(a.id) + "]"})
		}
	}
	return all
}
