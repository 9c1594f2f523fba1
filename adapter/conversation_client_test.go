package adapter_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/taskbridge/taskbridge/internal/memnet"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// frontURL is where the bridge listens, as far as its clients know.
const frontURL = "http://127.0.0.1:8720/"

// client is the client of a conversation: all of them.
type client struct {
	events chan<- struct{}
	http   *http.Client
	// via returns what the next request is sent by; nil for http.
	via func() *http.Client

	mu        sync.Mutex
	exchanges []*clientExchange
	work      sync.WaitGroup
}

// clientExchange is one HTTP request of a client and its answer.
type clientExchange struct {
	name   string
	get    bool
	batch  bool // several responses may come on its stream
	cancel context.CancelFunc

	mu       sync.Mutex
	head     *head  // nil until it is there
	primed   string // the id of the event without a message that it began with
	messages []said
	last     string    // the newest message of all
	ended    time.Time // zero until then
	broken   error
	over     bool // the conversation knows that it has ended
}

// head is the head of an answer.
type head struct {
	status int
	header http.Header
	stream bool
}

// said is a message of the bridge, when it came, and the id of its event.
type said struct {
	at   time.Time
	text string
	id   string
}

// news is something that no step has expected.
type news struct {
	at   time.Time
	what string
}

func newClient(listener *memnet.Listener, events chan<- struct{}) *client {
	c := &client{events: events, http: &http.Client{Transport: &http.Transport{}}}
	listener.Attach(c.http)
	return c
}

// begin sends a request and reads its answer in the background.
func (c *client) begin(name string, r *http.Request) *clientExchange {
	by := c.http
	if c.via != nil {
		by = c.via()
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &clientExchange{name: name, get: r.Method == http.MethodGet, cancel: cancel}
	c.mu.Lock()
	c.exchanges = append(c.exchanges, x)
	c.mu.Unlock()
	c.work.Go(func() {
		defer cancel()
		err := c.read(by, x, r.WithContext(ctx))
		x.mu.Lock()
		x.ended, x.broken = time.Now(), err
		x.mu.Unlock()
		c.happened()
	})
	return x
}

func (c *client) happened() {
	select {
	case c.events <- struct{}{}:
	default:
	}
}

func (c *client) read(by *http.Client, x *clientExchange, r *http.Request) error {
	resp, err := by.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	x.mu.Lock()
	x.head = &head{resp.StatusCode, resp.Header, media == "text/event-stream"}
	x.mu.Unlock()
	c.happened()
	if media != "text/event-stream" {
		body, err := io.ReadAll(resp.Body)
		if len(body) > 0 {
			c.heard(x, string(body), "")
		}
		return err
	}
	var raw bytes.Buffer
	var last string
	for event, err := range sse.Read(io.TeeReader(resp.Body, &raw), &sse.ReadConfig{MaxEventSize: 1 << 24}) {
		if err != nil {
			return err
		}
		id := event.LastEventID
		if id == last {
			id = "" // it stands for an event that has none
		}
		if last != "" || event.Data != "" || !bytes.Contains(raw.Bytes(), []byte("\nretry: 1000\n")) {
			c.heard(x, event.Data, id)
		} else {
			x.prime(id)
		}
		last = event.LastEventID
	}
	return nil
}

func (c *client) heard(x *clientExchange, text, id string) {
	x.mu.Lock()
	x.messages, x.last = append(x.messages, said{time.Now(), text, id}), text
	x.mu.Unlock()
	c.happened()
}

// prime notes that the stream begins with an event without a message.
func (x *clientExchange) prime(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.primed = id
}

// begun returns the id of the event without a message that the stream began with.
func (x *clientExchange) begun() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.primed
}

// find returns the newest exchange of a name; of an empty one the newest of all.
func (c *client) find(name string) *clientExchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.exchanges) - 1; i >= 0; i-- {
		if name == "" || c.exchanges[i].name == name {
			return c.exchanges[i]
		}
	}
	return nil
}

func (c *client) all() []*clientExchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*clientExchange(nil), c.exchanges...)
}

// news lists what no step has expected.
func (c *client) news() (all []news) {
	for _, x := range c.all() {
		all = append(all, x.news()...)
	}
	return all
}

func (x *clientExchange) news() (all []news) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, m := range x.messages {
		all = append(all, news{m.at, "b>c [on " + x.name + "] " + m.text})
	}
	if x.over || x.ended.IsZero() {
		return all
	}
	what := "b>c [on " + x.name + "] the exchange has ended"
	switch {
	case x.broken != nil:
		what += ": " + x.broken.Error()
	case x.head != nil:
		what += fmt.Sprintf(": status %d", x.head.status)
	}
	return append(all, news{x.ended, what})
}

// next takes the next message.
func (x *clientExchange) next() (m said, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.messages) == 0 {
		return said{}, false
	}
	m = x.messages[0]
	x.messages = x.messages[1:]
	return m, true
}

// answered reports whether a message waits, or none will come any more.
func (x *clientExchange) answered() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.messages) > 0 || !x.ended.IsZero()
}

// end returns whether the exchange has ended, with nothing left to read, and says
// that this is no news.
func (x *clientExchange) end() (ended bool, broken error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.messages) > 0 || x.ended.IsZero() {
		return false, nil
	}
	x.over = true
	return true, x.broken
}

// ends is like end, and says nothing.
func (x *clientExchange) ends() (ended bool, broken error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.messages) == 0 && !x.ended.IsZero(), x.broken
}

// hangUp drops the exchange.
func (x *clientExchange) hangUp() {
	x.mu.Lock()
	x.over = true
	x.mu.Unlock()
	x.cancel()
}

// answer returns the head of the answer, or nil.
func (x *clientExchange) answer() *head {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.head
}

// isResponse reports whether a message is the response to a request.
func isResponse(v wire.Value) bool {
	return v.Get("result").Present() || v.Get("error").Present()
}

// named is the name of the exchange that a message of the client begins.
func named(message wire.Value) string {
	if message.Get("method").Present() {
		return strings.TrimSpace(string(message.Get("id")))
	}
	return ""
}
