package ask

import (
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	// repeatFor is how long an answer may be given again without asking, and
	// repeatEvery the least time between two of them (A-I11).
	repeatFor   = 10 * time.Minute
	repeatEvery = 2 * time.Second
)

// Repeat is an answer that stands for the same question when it comes again.
type Repeat struct {
	Answer string `json:"answer"`
	// Given is when the client has given it, Last when it was given last, in ms.
	Given int64 `json:"given"`
	Last  int64 `json:"last"`
}

// Keep has the entry's answer given again if the same question comes again.
func (e *Entry) Keep(now time.Time) {
	e.Repeat = &Repeat{Answer: e.Answer, Given: now.UnixMilli(), Last: now.UnixMilli()}
}

// Repeated returns the answer that was given to the question with this digest, and
// when it may be given again.
func (t *Table) Repeated(digest string, now time.Time) (r Repeat, due time.Time, ok bool) {
	for _, other := range *t {
		if other.Repeat == nil || other.Digest != digest || other.Repeat.Last < r.Last {
			continue
		}
		r, ok = *other.Repeat, true
	}
	if !ok || now.Sub(time.UnixMilli(r.Given)) >= repeatFor {
		return Repeat{}, time.Time{}, false
	}
	return r, time.UnixMilli(r.Last).Add(repeatEvery), true
}

// repeats reports whether all questions have been answered before, under other keys.
func (t *Table) repeats(questions []port.Question, now time.Time) bool {
	for _, q := range questions {
		if _, _, ok := t.Repeated(digest(q), now); !ok {
			return false
		}
	}
	return len(questions) > 0
}

// Fresh reports whether any answer of a space is not just given again.
func (t *Table) Fresh(space string) bool {
	for _, e := range *t {
		if _, ours := cut(e.Key, space); ours && e.State == Answered && (e.Repeat == nil || e.Repeat.Given == e.Repeat.Last) {
			return true
		}
	}
	return false
}

// Again records a repeated answer.
func (e *Entry) Again(r Repeat, now time.Time) {
	e.Reply(wire.Value(r.Answer))
	r.Last = now.UnixMilli()
	e.Repeat = &r
}
