package park

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Question is something that the backend wants to know.
type Question struct {
	// Kind begins its key, which is unique in the call: "elicit" makes elicit-1.
	Kind string
	// Request is what the client is shown.
	Request wire.Value
	// Answer tells the backend what was answered under the question's key, and
	// reports why that is no answer; then the question stays open.
	Answer func(ctx context.Context, key string, answer wire.Value) error
	// Refuse tells the backend that there will be no answer.
	Refuse func(ctx context.Context)
}

// Entry is a question with its key.
type Entry struct {
	Key string
	Question
}

// Turn is what a client is told: how the call has ended, or what it has to answer
// and the state to come back with.
type Turn struct {
	Outcome port.Outcome
	Entries []Entry
	State   string
}

// Call is a backend's call with a client that may have to answer something.
type Call struct {
	// Info is what whoever goes on with the call has to know of it. It is set, if
	// at all, before the call has a question.
	Info wire.Value

	lot     *Lot
	id      string
	binding Binding
	abandon func(ctx context.Context)

	mu      sync.Mutex
	counts  map[string]int // of keys, by kind
	open    []Entry
	since   time.Time // when the oldest question that was not shown came up
	round   int64
	fresh   bool // something has changed since the round was shown
	shown   int  // how many of the open ones the client has been shown
	parked  bool
	ended   *port.Outcome
	changed chan struct{} // closed, and replaced, with every change
	waiters int
	stop    func() bool // of the time that the client may stay away
	closed  time.Time   // when a question was last answered or taken back
}

// wake tells everybody of a change. The lock is held.
func (c *Call) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// What a backend asks at a time is bounded, since it is kept for a client that may
// not come back: in number and, beyond the first question, in bytes.
const (
	maxOpen     = 64
	maxOpenSize = 8 << 20
)

// Ask adds a question, and returns its key. It reports false once the call is over,
// or too much is asked at once: the question has to be refused then.
func (c *Call) Ask(q Question) (key string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil || c.crowded(q) {
		return "", false
	}
	c.counts[q.Kind]++
	key = q.Kind + "-" + strconv.Itoa(c.counts[q.Kind])
	if len(c.open) == c.shown {
		c.since = c.lot.env.Now()
	}
	c.open, c.fresh = append(c.open, Entry{key, q}), true
	c.wake()
	return key, true
}

// crowded reports whether a question is one too many. The lock is held.
func (c *Call) crowded(q Question) bool {
	size := len(q.Request)
	for _, e := range c.open {
		size += len(e.Request)
	}
	return len(c.open) >= maxOpen || len(c.open) > 0 && size > maxOpenSize
}

// Withdraw removes a question that the backend has taken back.
func (c *Call) Withdraw(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// Waited returns when the backend has last waited for an answer: now, as long as it
// does.
func (c *Call) Waited() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) > 0 {
		return c.lot.env.Now()
	}
	return c.closed
}

// remove drops an open question. The lock is held.
func (c *Call) remove(key string) (Entry, bool) {
	for i, e := range c.open {
		if e.Key == key {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			if i < c.shown { // those that were shown come first
				c.shown--
			}
			c.closed = c.lot.env.Now()
			c.wake()
			return e, true
		}
	}
	return Entry{}, false
}

// End says how the backend's request has ended. Only the first end counts.
func (c *Call) End(out port.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended, c.open, c.shown = &out, nil, 0
	c.wake()
	if c.parked {
		c.expire(c.lot.times.Keep)
	}
}

// ErrSlow says that there was nothing to tell a client within the time.
var ErrSlow = errors.New("nothing to tell yet")

// Transfer takes the open questions off the call, and returns their keys, unless its
// client has been shown some of them: those have to be answered here.
func (c *Call) Transfer() (keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown > 0 {
		return nil
	}
	for _, e := range c.open {
		keys = append(keys, e.Key)
	}
	c.open = nil
	c.wake()
	return keys
}

// Settle is End for a call whose client may have been shown questions: it waits until
// they are answered or taken back, or the call is given up.
func (c *Call) Settle(out port.Outcome) {
	for {
		c.mu.Lock()
		changed, open := c.changed, c.ended == nil && len(c.open) > 0
		c.mu.Unlock()
		if !open {
			c.End(out)
			return
		}
		select {
		case <-changed:
		case <-c.lot.ctx.Done():
			c.End(out)
			return
		}
	}
}

// Next waits until there is something to tell the client. When ctx ends first, a
// call that was never parked is given up: its client cannot come back.
func (c *Call) Next(ctx context.Context) (Turn, error) { return c.next(ctx, nil) }

// NextWithin is Next that returns [ErrSlow] when nothing has come up after a while.
func (c *Call) NextWithin(ctx context.Context, d time.Duration) (Turn, error) {
	timer := c.lot.env.NewTimer(d)
	defer timer.Stop()
	return c.next(ctx, timer.C)
}

func (c *Call) next(ctx context.Context, slow <-chan time.Time) (Turn, error) {
	c.enter()
	defer c.leave()
	for {
		c.mu.Lock()
		changed, wait := c.changed, time.Duration(-1)
		switch {
		case c.ended != nil:
			out := *c.ended
			c.mu.Unlock()
			return Turn{Outcome: out}, nil
		case len(c.open) > 0:
			slow = nil // there is, in a moment
			wait = c.lot.times.Window - c.lot.env.Now().Sub(c.since)
			if c.shown > 0 || wait <= 0 {
				turn, err := c.show()
				c.mu.Unlock()
				if err != nil {
					c.GiveUp(context.WithoutCancel(ctx)) // nobody could ever answer
				}
				return turn, err
			}
		}
		c.mu.Unlock()
		if err := c.await(ctx, changed, slow, wait); err != nil {
			return Turn{}, err
		}
	}
}

// await waits for a change, for the end of the window unless wait is negative, until
// it is slow, or for the end of ctx.
func (c *Call) await(ctx context.Context, changed <-chan struct{}, slow <-chan time.Time, wait time.Duration) error {
	var window <-chan time.Time
	if wait >= 0 {
		timer := c.lot.env.NewTimer(wait)
		defer timer.Stop()
		window = timer.C
	}
	select {
	case <-changed:
		return nil
	case <-window:
		return nil
	case <-slow:
		return ErrSlow
	case <-ctx.Done():
		return c.left(ctx, context.Cause(ctx))
	case <-c.lot.ctx.Done():
		return c.left(ctx, errStopped)
	}
}

// left gives up a call that was never parked, since its client cannot come back.
func (c *Call) left(ctx context.Context, cause error) error {
	c.mu.Lock()
	parked := c.parked
	c.mu.Unlock()
	if !parked {
		c.GiveUp(context.WithoutCancel(ctx))
	}
	return cause
}

// show makes the questions that are open a round, or repeats the one that they are
// for a client that repeats itself. The lock is held.
func (c *Call) show() (Turn, error) {
	if !c.lot.park(c) {
		return Turn{}, errFull
	}
	c.parked = true
	if c.fresh {
		c.round, c.fresh = c.round+1, false
	}
	c.shown = len(c.open)
	state, err := c.lot.seal(c, c.round)
	if err != nil {
		return Turn{}, err
	}
	return Turn{Entries: append([]Entry(nil), c.open...), State: state}, nil
}

// Answer gives the answers of a round to the backend. Those of an older round, and
// those to what is not open, are ignored (B-P3, B-P4). The error names the key of
// an answer that is none; its question, and those after it, stay open.
func (c *Call) Answer(ctx context.Context, round int64, answers []port.Answer) error {
	for _, a := range answers {
		c.mu.Lock()
		var e Entry
		ok := c.round == round && c.ended == nil
		if ok {
			e, ok = c.remove(a.Key)
		}
		c.mu.Unlock()
		if !ok {
			continue
		}
		if err := e.Answer(ctx, a.Key, a.Value); err != nil {
			c.mu.Lock()
			if c.ended == nil {
				c.open = slices.Insert(c.open, c.shown, e)
				c.shown, c.fresh = c.shown+1, true
			}
			c.mu.Unlock()
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.round == round && c.shown > 0 {
		c.fresh = true // what was left out is asked again at once
	}
	return nil
}

// enter notes that a client waits: its time to come back stops.
func (c *Call) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiters++
	if c.stop != nil && c.ended == nil {
		c.stop()
		c.stop = nil
	}
}

// leave notes that a client has gone, with questions to answer or for good.
func (c *Call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiters--; c.waiters == 0 && c.parked && c.ended == nil {
		c.expire(c.lot.times.Park)
	}
}

// expire gives the call up after a while. The lock is held.
func (c *Call) expire(after time.Duration) {
	if c.stop != nil {
		c.stop()
	}
	c.stop = c.lot.env.AfterFunc(after, func() { c.lot.spawn(func() { c.GiveUp(c.lot.ctx) }) })
}

// GiveUp refuses what is open, ends the backend's request and forgets the call
// (B-P5).
func (c *Call) GiveUp(ctx context.Context) {
	c.lot.remove(c)
	c.mu.Lock()
	over := c.ended != nil
	open := c.open
	c.open, c.shown = nil, 0
	if c.stop != nil {
		c.stop()
	}
	if !over {
		out := port.Fail(errGivenUp)
		c.ended = &out
		c.wake()
	}
	c.mu.Unlock()
	if over {
		return
	}
	for _, e := range open {
		e.Refuse(ctx)
	}
	c.abandon(ctx)
}
