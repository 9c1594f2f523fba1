package adapter_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// gate stands before a backend and looks at the credentials.
type gate struct {
	http.Handler

	mu     sync.Mutex
	status int      // of what a is answered; 0 lets it in
	asked  []string // the methods of what it was asked with a
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	g.mu.Lock()
	status := 0
	if r.Header.Get("Authorization") == "Bearer a" {
		status = g.status
		method, _ := wire.Value(body).Get("method").Text()
		g.asked = append(g.asked, strings.TrimSpace(r.Method+" "+method))
	}
	g.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	g.Handler.ServeHTTP(w, r)
}

func (g *gate) Close() { closeServer(g.Handler) }

func closeServer(h http.Handler) {
	if s, ok := h.(interface{ Close() }); ok {
		s.Close()
	}
}

// answer has a refused with a status, or let in again with 0.
func (g *gate) answer(status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status = status
}

// questions returns and forgets what was asked.
func (g *gate) questions() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	asked := g.asked
	g.asked = nil
	return asked
}

// TestRevokedReadsNothing: a credential that the backend does not take any more, or that
// it cannot be asked about, gets nothing of what the bridge holds, on any method of either
// face, and changes nothing either; once it is good again, everything is there (DESIGN
// "Principal", A-L17).
func TestRevokedReadsNothing(t *testing.T) {
	t.Parallel()
	for _, face := range []string{"legacy", "modern"} {
		for era, server := range servers {
			for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable} {
				t.Run(fmt.Sprintf("%s face, %s backend, HTTP %d", face, era, status), func(t *testing.T) {
					t.Parallel()
					g := &gate{Handler: server()}
					cellOf(t, g, func(c *eraCell) {
						c.set = []string{"limits.sessions_per_address=10000", "page_size=1", "times.call_idle=2s"}
						c.logs = "level=ERROR" // the backend is ill
						c.restart()
						one := c.settle(face, "Bearer a")
						g.answer(status)
						time.Sleep(time.Minute)
						one.barred(status)
						g.answer(0)
						one.whole()
					})
				})
			}
		}
	}
}

// barred tries everything that somebody has with a credential that the backend answers
// with a status.
func (e *estate) barred(status int) {
	e.t.Helper()
	told := map[string]bool{} // what was said of the credential, by method
	for i, h := range e.holdings {
		for j, a := range attempts(e.face) {
			if i > 1 && (i+j)%thin != 0 { // the second is a handle
				continue
			}
			got := e.try(a, h.value)
			if a.method != "ping" {
				for line := range strings.Lines(got.body) {
					msg := wire.Value(strings.TrimSpace(strings.TrimPrefix(line, "data: ")))
					if msg.IsObject() && !msg.Get("error").IsObject() {
						e.t.Errorf("%s, in %s: HTTP %d %s", h.kind, a.name, got.status, got.body)
					}
				}
			}
			switch {
			case got.status == status && status < 500:
				told[a.verb+" "+a.method] = true
				if got.header.Get("WWW-Authenticate") == "" {
					e.t.Errorf("A-L17 %s, in %s: no challenge in %v", h.kind, a.name, got.header)
				}
			case status >= 500 && strings.Contains(got.body, "-32603"):
				told[a.verb+" "+a.method] = true
			}
		}
	}
	want := []string{"POST com.acme/dig"}
	for _, row := range mapping.Table() {
		served := map[string]mapping.Sender{"legacy": row.Legacy, "modern": row.Modern}[e.face]&mapping.FromClient != 0
		if served && !row.Notification && row.Method != "ping" {
			want = append(want, "POST "+row.Method)
		}
	}
	if e.face == "legacy" {
		want = append(want, "GET ", "DELETE ", "POST ") // the last is that of answers
	}
	for _, method := range want {
		if !told[method] {
			e.t.Errorf("%s never says that the credential is not good", method)
		}
	}
}

// TestProofCostsLittle: the credential of who is busy is not shown to the backend once
// more, and any other with the cheapest request.
func TestProofCostsLittle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ face, era, method, slot, says, question string }{
		{"legacy", "modern", "tasks/list", "taskId", `"result"`, "POST server/discover"},
		{"modern", "legacy", "server/discover", "cursor", `"result"`, "POST ping"},
		{"legacy", "legacy", "GET", "Last-Event-ID", "unknown event", "POST ping"},
	} {
		t.Run(tt.face+" face, "+tt.era+" backend", func(t *testing.T) {
			t.Parallel()
			g := &gate{Handler: servers[tt.era]()}
			cellOf(t, g, func(c *eraCell) {
				p := &party{eraCell: c, face: tt.face, auth: "Bearer a"}
				if tt.face == "legacy" {
					p.session = c.old(p.auth).session
				}
				use := func(name, says string) {
					t.Helper()
					for _, a := range attempts(tt.face) {
						if a.name == name {
							if got := p.try(a, "none"); !strings.Contains(got.body, says) {
								t.Errorf("%s: %d %s", name, got.status, got.body)
							}
						}
					}
				}
				use("tools/list taskId", `"result"`)
				g.questions()
				for range 5 { // each call proves the credential for what follows
					time.Sleep(50 * time.Second)
					use("tools/list taskId", `"result"`)
					g.questions()
					use(tt.method+" "+tt.slot, tt.says)
					if asked := g.questions(); len(asked) != 0 {
						t.Errorf("a busy caller was shown to the backend: %q", asked)
					}
				}
				time.Sleep(2 * time.Minute)
				g.questions()
				use(tt.method+" "+tt.slot, tt.says)
				use(tt.method+" "+tt.slot, tt.says)
				if asked := g.questions(); !slices.Equal(asked, []string{tt.question}) {
					t.Errorf("asked %q, want %q once", asked, tt.question)
				}
			})
		})
	}
}
