//go:build interop

package ledger_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	// atOnce is how long an answer may take that waits for nothing, on a busy machine.
	atOnce = 2 * time.Second
	// firstTry is how long the first to notice that Redis is away may wait: for its
	// timeouts, one after another.
	firstTry = 10 * time.Second
)

// standing are tasks that work throughout, as their clients know them.
type standing struct {
	*books
	legacy  *legacyClient
	modern  map[string]*modernClient // by the era of the backend
	entries map[client]*entry
}

// newStanding makes the tasks.
func newStanding(b *books) *standing {
	b.Helper()
	s := &standing{books: b, modern: make(map[string]*modernClient), entries: make(map[client]*entry)}
	for _, r := range []route{{"legacy", "modern"}, {"modern", "modern"}, {"modern", "legacy"}} {
		c := b.client(r)
		e := &entry{kind: &kind{face: r.face, era: r.era, tool: "work", cancels: true}, number: 100_000 + len(s.entries), client: c}
		if c.create(b.Context(), e); e.handle == "" {
			b.Fatalf("%s: %s%s", e.kind, e.cut, e.refused)
		}
		s.entries[c] = e
		switch c := c.(type) {
		case *legacyClient:
			s.legacy = c
		case *modernClient:
			s.modern[r.era] = c
		}
	}
	return s
}

// at makes a request of a client at one replica, which takes no longer than limit.
func (s *standing) at(r *replica, limit time.Duration, path string, header http.Header, method string, params object) reply {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	base, _, _ := strings.Cut(r.process.url, "/legacy/")
	base, _, _ = strings.Cut(base, "/modern/")
	out := send(ctx, http.MethodPost, base+path, header, object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, nil)
	if out.took > limit || out.silence != nil {
		s.Errorf("%s at replica %s took %v, want %v at most: %s", method, r.name(), out.took, limit, &out)
	}
	return out
}

// reads checks that a replica tells of backends' tasks, whatever Redis does. Limit is
// how long each answer may take.
func (s *standing) reads(r *replica, limit time.Duration) {
	s.Helper()
	for era, c := range s.modern {
		e := s.entries[c]
		header, params := c.envelope("tasks/get", e.handle, object{"taskId": e.handle})
		out := s.at(r, limit, "/modern/"+era, header, "tasks/get", params)
		var task modernTask
		if out.Error != nil || json.Unmarshal(out.Result, &task) != nil || task.Status != "working" {
			s.Errorf("a task of the %s backend, while Redis is away, at replica %s: %s", era, r.name(), &out)
		}
	}
}

// refuses checks that a replica says at once that it cannot serve what needs Redis, or
// that it can.
func (s *standing) refuses(r *replica, limit time.Duration) {
	s.Helper()
	out := s.at(r, limit, "/legacy/modern", s.legacy.header(""), "initialize", initializeParams)
	if out.Error == nil || out.Error.Code != codeInternal {
		s.Errorf("initialize, while Redis is away, at replica %s: %s", r.name(), &out)
	}
	e := s.entries[s.legacy]
	out = s.at(r, limit, "/legacy/modern", s.legacy.header(s.legacy.session), "tasks/get", object{"taskId": e.handle})
	if out.Error != nil && out.Error.Code != codeInternal {
		s.Errorf("tasks/get in a session, while Redis is away, at replica %s: %s", r.name(), &out)
	}
}

// during watches all replicas while Redis is away.
func (s *standing) during(d time.Duration) {
	s.Helper()
	until := time.Now().Add(d)
	for _, r := range s.replicas {
		s.refuses(r, firstTry)
	}
	rounds := 0
	for ; rounds == 0 || time.Now().Before(until); rounds++ {
		for _, r := range s.replicas {
			s.refuses(r, atOnce)
			s.reads(r, atOnce)
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.Logf("asked %d times while Redis was away", rounds)
}

// recovers waits until every replica serves again what needs Redis.
func (s *standing) recovers() {
	s.Helper()
	back := time.Now()
	for _, r := range s.replicas {
		for {
			out := s.at(r, firstTry, "/legacy/modern", s.legacy.header(""), "initialize", initializeParams)
			if out.Error == nil && out.silence == nil {
				break
			}
			if time.Since(back) > patience {
				s.Fatalf("replica %s does not recover: %s", r.name(), &out)
			}
			time.Sleep(again)
		}
	}
	s.Logf("recovered %v after Redis was back", time.Since(back).Round(time.Millisecond))
	for c, e := range s.entries {
		switch c := c.(type) {
		case *legacyClient:
			if task := c.get(s.Context(), e); task.Status != "working" {
				s.Errorf("%s: %+v", e.kind, task)
			}
		case *modernClient:
			if task := c.get(s.Context(), e); task.Status != "working" {
				s.Errorf("%s: %+v", e.kind, task)
			}
		}
		for _, p := range e.problems {
			s.Errorf("%s: %s", e.kind, p)
		}
	}
}

// TestOutage: Redis stands still, and then it is shut down, while tasks run. What needs
// it gets an error at once, backends' tasks can be read all the same where no session is
// needed, and when it is back everything goes on without a restart: the books balance
// (DESIGN.md §4, "Store outage").
func TestOutage(t *testing.T) {
	b := newBooks(t)
	began := time.Now()
	s := newStanding(b)
	wait := b.load(t.Context(), *tasks/2, 2**outage+6*time.Second)
	time.Sleep(time.Second)
	b.without(b.redis.Resume, b.redis.Pause, func() { s.during(*outage) })
	s.recovers()
	b.without(b.redis.Restart, func() error { b.redis.Shutdown(); return nil }, func() { s.during(*outage) })
	s.recovers()
	wait()
	b.entries = append(b.entries, s.all()...)
	b.audit()
	b.inspect()
	b.publish("Redis standing still, and Redis shut down", time.Since(began))
}

// all are the standing tasks, for the books.
func (s *standing) all() (out []*entry) {
	for _, e := range s.entries {
		out = append(out, e)
	}
	return out
}
