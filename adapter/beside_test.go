package adapter_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/internal/env"
)

// tapped is a store as one process has it. It knows the process by its id, and what the
// process says to others.
type tapped struct {
	state.Store

	process atomic.Value
	said    atomic.Int64
}

// processTopic begins the topics on which processes are spoken to.
const processTopic = "process/"

// Subscribe implements [state.Store].
func (s *tapped) Subscribe(ctx context.Context, topic string) (state.Subscription, error) {
	if id, ok := strings.CutPrefix(topic, processTopic); ok {
		s.process.Store(id)
	}
	return s.Store.Subscribe(ctx, topic)
}

// Publish implements [state.Store].
func (s *tapped) Publish(ctx context.Context, topic string, payload []byte) error {
	if strings.HasPrefix(topic, processTopic) {
		s.said.Add(1)
	}
	return s.Store.Publish(ctx, topic, payload)
}

// id is that of the process.
func (s *tapped) id(t *testing.T) string {
	t.Helper()
	id, _ := s.process.Load().(string)
	if id == "" {
		t.Fatal("the process does not listen to others")
	}
	return id
}

// silent reports whether the process has said nothing to others while f ran.
func (c *eraCell) silent(f func()) bool {
	if c.store == nil {
		f()
		return true
	}
	before := c.store.said.Load()
	f()
	return c.store.said.Load() == before
}

// share begins the bridge again with a store that other processes can use as well.
func (c *eraCell) share() {
	c.t.Helper()
	store, err := embedded.Open(c.t.Context(), embedded.Options{Memory: true, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		c.t.Fatal(err)
	}
	c.store = &tapped{Store: store}
	c.set = append(c.set, "secrets="+rotation[0])
	c.restart()
}

// beside begins another process of the same bridge. It has to be ended before this one.
func (c *eraCell) beside() *eraCell {
	c.t.Helper()
	twin := &eraCell{t: c.t, dir: c.dir, set: c.set, logs: c.logs, back: c.back, log: c.log, store: &tapped{Store: c.store.Store}}
	twin.begin()
	time.Sleep(10 * time.Second) // by then they know of each other
	return twin
}

// TestForgedProcess: what names a process that its caller has nothing from reaches no
// other process, whatever it is made of, and tells nobody which processes there are
// (DESIGN §4.4, A-L10, A-L16, B-P2).
func TestForgedProcess(t *testing.T) {
	t.Parallel()
	for _, face := range []string{"legacy", "modern"} {
		t.Run(face, func(t *testing.T) {
			t.Parallel()
			cellOf(t, newOldDemo(), func(c *eraCell) {
				c.set = []string{"limits.sessions_per_address=10000"}
				c.logs = "rule=related-task" // a client's, of the other era
				c.share()
				at := c.beside()
				defer at.end()
				one, own := c.settle(face, "Bearer a"), &party{eraCell: at, face: face, auth: "Bearer a"}
				if face == "legacy" {
					own.session = own.old(own.auth).session // which may use what it forges
				}
				there, here := c.store.id(t), at.store.id(t)
				for _, h := range one.holdings {
					if strings.Contains(h.value, there) || strings.Contains(h.value, here) {
						t.Errorf("%s: shows a process", h.kind)
					}
					if strings.HasPrefix(h.kind, "event") && !at.silent(func() {
						own.try(attempt{verb: http.MethodGet, header: map[string]string{"Last-Event-ID": h.value}}, "")
					}) {
						t.Errorf("%s of another session: passed on to another process", h.kind)
					}
				}
				for k, form := range []string{"P", "P:0", "P:1", "P.1:0", "P.x-1:1", "P.P.1:1", "process/P", "1.P:1"} {
					forged, nobodys := strings.ReplaceAll(form, "P", there), strings.ReplaceAll(form, "P", strings.Repeat("A", len(there)))
					for i, a := range attempts(face) {
						if (i+k)%(4*thin) != 0 && a.verb == http.MethodPost {
							continue
						}
						var got string
						if !at.silent(func() { got = own.try(a, forged).shown(forged) }) {
							t.Errorf("%s, in %s: passed on to another process", form, a.name)
						}
						if want := own.try(a, nobodys).shown(nobodys); got != want {
							t.Errorf("%s, in %s:\n%s\nof no process:\n%s", form, a.name, got, want)
						}
					}
				}
			})
		})
	}
}
