package ask

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Desk knows the streams of this process on which clients can be asked. It is
// safe for concurrent use. Nothing on it is the only copy of anything.
type Desk struct {
	env     env.Env
	process port.Process // begins the names of its streams
	told    *lru.Cache[pollKey, time.Time]

	mu      sync.Mutex
	seats   map[string][]*Seat // by task, oldest first
	placed  map[string]*placed // open requests, by the name of their stream
	streams int64
	calls   map[callKey]func(jsonrpc.Message) // takes the response to a plain call's request
}

// Seat is a client that waits for the end of a task on a live stream.
type Seat struct {
	Caller port.Caller
	Stream port.Stream
}

// placed is where a request goes.
type placed struct {
	stream port.Stream
	// own is set for a stream of the session's own. It is lost only when it has
	// not been resumed in time; another one is as soon as its client is away.
	own bool

	mu   sync.Mutex // held while the request is sent
	sent bool
}

type pollKey struct{ task, session string }

type callKey struct{ session, id string }

// toldSize is how many polling sessions are remembered.
const toldSize = 4096

// sweepEvery is how many requests are placed between two sweeps.
const sweepEvery = 256

// NewDesk returns the desk of a process.
func NewDesk(e env.Env, process port.Process) (*Desk, error) {
	told, err := lru.New[pollKey, time.Time](toldSize)
	if err != nil {
		return nil, err
	}
	d := &Desk{
		env: e, process: process, told: told,
		seats: make(map[string][]*Seat), placed: make(map[string]*placed), calls: make(map[callKey]func(jsonrpc.Message)),
	}
	process.Answer(kindLost, d.answerLost)
	process.Answer(kindWithdraw, d.answerWithdraw)
	return d, nil
}

// Session returns the name under which a session's requests are kept. It is the same
// whatever secrets there are: nobody guesses a session's id, so that its hash needs no
// key.
func (d *Desk) Session(caller port.Caller) string {
	sum := sha256.Sum256([]byte("asked session\x00" + caller.Session))
	return hex.EncodeToString(sum[:16])
}

// ElicitationID returns the id of a question that leads the user to a URL: the
// same for every request that puts it (A-I11), also after a rotation of secrets. One of
// the parts has to be nobody's to guess.
func (d *Desk) ElicitationID(parts ...string) string {
	sum := sha256.Sum256(fmt.Append([]byte("elicitation\x00"), quoted(parts)...))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of version 8
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// quoted quotes parts, so that no two lists of them read the same.
func quoted(parts []string) []any {
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = strconv.Quote(p)
	}
	return out
}

// Sit registers a client that waits for a task, if it can be asked there at all.
// The returned function ends that. What the session has been told by polls before
// does not count any more.
func (d *Desk) Sit(task string, caller port.Caller, stream port.Stream) (leave func()) {
	if stream == nil || !stream.Asks() {
		return func() {}
	}
	d.told.Remove(pollKey{task, d.Session(caller)})
	seat := &Seat{Caller: caller, Stream: stream}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seats[task] = append(d.seats[task], seat)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seats[task] = slices.DeleteFunc(d.seats[task], func(s *Seat) bool { return s == seat })
		if len(d.seats[task]) == 0 {
			delete(d.seats, task)
		}
	}
}

// Seats returns the clients that wait for a task and are there, the newest first.
func (d *Desk) Seats(task string) []*Seat {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []*Seat
	for _, s := range slices.Backward(d.seats[task]) {
		if s.Stream.Connected() {
			out = append(out, s)
		}
	}
	return out
}

// Polled takes note that a session is told that a task needs input, and reports
// whether it has been told an interval ago or longer: it does not open tasks/result
// then, and has to be asked on its own stream.
func (d *Desk) Polled(task string, caller port.Caller, interval time.Duration) bool {
	key := pollKey{task, d.Session(caller)}
	now := d.env.Now()
	since, known := d.told.Get(key)
	if !known {
		d.told.Add(key, now)
	}
	return known && now.Sub(since) >= interval
}

// Place names the stream that a request is about to be sent on. Own says that it
// is one of the session's own.
func (d *Desk) Place(stream port.Stream, own bool) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.streams++; d.streams%sweepEvery == 0 {
		d.sweep()
	}
	name := d.process.ID() + "/" + strconv.FormatInt(d.streams, 10)
	d.placed[name] = &placed{stream: stream, own: own}
	return name
}

// Send sends a request on the stream that it was placed on. One that has been
// withdrawn or forgotten since is not sent: that may happen while it is made
// durable.
func (d *Desk) Send(r Request, message []byte) error {
	d.mu.Lock()
	p := d.placed[r.Stream]
	if p == nil {
		d.mu.Unlock()
		return nil
	}
	p.mu.Lock() // still under the other lock: who takes the place away comes after
	d.mu.Unlock()
	defer p.mu.Unlock()
	p.sent = true
	return p.stream.Send(message)
}

// sweep forgets streams that are gone: nobody may ever ask for them again. The
// lock is held.
func (d *Desk) sweep() {
	for name, p := range d.placed {
		if gone(p.stream) {
			delete(d.placed, name)
		}
	}
}

func gone(s port.Stream) bool {
	select {
	case <-s.Gone():
		return true
	default:
		return false
	}
}

// Lost reports whether nobody reads a request any more, for a client that waits
// for its task, or else for one that does not. The process that has the stream says
// so; of one that cannot be asked nothing is lost, unless it is dead.
func (d *Desk) Lost(ctx context.Context, r Request, waits bool) bool {
	if process := r.process(); process != d.process.ID() {
		return d.lostElsewhere(ctx, process, r, waits)
	}
	return d.lost(r, waits)
}

func (d *Desk) lost(r Request, waits bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, known := d.placed[r.Stream]
	if !known {
		return true
	}
	if waits && !p.own {
		return !p.stream.Connected()
	}
	return gone(p.stream)
}

// Withdraw takes requests back, where somebody may have seen them.
func (d *Desk) Withdraw(ctx context.Context, dialect port.QuestionDialect, requests []Request) {
	for _, r := range requests {
		message := dialect.AppendWithdrawal(nil, jsonrpc.ID(r.ID))
		if process := r.process(); process != d.process.ID() {
			d.withdrawElsewhere(ctx, process, r, message)
			continue
		}
		d.withdraw(r, message)
	}
}

func (d *Desk) withdraw(r Request, message []byte) {
	if p := d.leave(r); p != nil && p.seen() {
		_ = p.stream.Send(message)
	}
}

// Forget drops the places of requests that are answered, or are not made.
func (d *Desk) Forget(requests []Request) {
	for _, r := range requests {
		d.leave(r)
	}
}

// leave removes the place of a request.
func (d *Desk) leave(r Request) *placed {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.placed[r.Stream]
	delete(d.placed, r.Stream)
	return p
}

// seen reports whether the request was sent.
func (p *placed) seen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// Deliver hands a response to the plain call that waits for it, and reports
// whether one does.
func (d *Desk) Deliver(caller port.Caller, response jsonrpc.Message) bool {
	key := callKey{d.Session(caller), string(response.ID)}
	d.mu.Lock()
	take := d.calls[key]
	delete(d.calls, key) // the first answer wins
	d.mu.Unlock()
	if take == nil {
		return false
	}
	take(response)
	return true
}

// expect registers what takes the response to a request. It must not block.
func (d *Desk) expect(key callKey, take func(jsonrpc.Message)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[key] = take
}

func (d *Desk) unexpect(key callKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.calls, key)
}
