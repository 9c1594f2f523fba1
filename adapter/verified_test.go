package adapter_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
)

// verifying has the bridge verify its callers, with the keys of a [keyed].
var verifying = []string{"auth.jwks_url=http://127.0.0.1/keys", "auth.issuer=" + issuing, "auth.audience=bridge"}

const issuing = "https://id.example"

// keyed is a backend with an issuer of tokens beside it.
type keyed struct {
	http.Handler

	t      *testing.T
	issuer *authtest.Issuer
	status atomic.Int64 // of what the backend answers; 0 lets everybody in
	asked  atomic.Int64 // requests to the backend
	minted atomic.Int64
}

func newKeyed(t *testing.T, server http.Handler) *keyed {
	t.Helper()
	k := &keyed{Handler: server, t: t, issuer: authtest.New(t, issuing)}
	k.issuer.Rotate(authtest.NewEdKey(t, "first")) // which is verified faster
	return k
}

func (k *keyed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/keys" {
		k.issuer.ServeHTTP(w, r)
		return
	}
	k.asked.Add(1)
	if status := k.status.Load(); status != 0 {
		w.WriteHeader(int(status))
		return
	}
	k.Handler.ServeHTTP(w, r)
}

func (k *keyed) Close() { closeServer(k.Handler) }

// token is a header with a new token of a subject, which is no other token's.
func (k *keyed) token(subject string) string { return k.tokenOf(issuing, subject, 24*time.Hour) }

func (k *keyed) tokenOf(issuer, subject string, lives time.Duration) string {
	k.t.Helper()
	return "Bearer " + k.issuer.Token(k.t, map[string]any{
		"iss": issuer, "sub": subject, "aud": "bridge", "exp": time.Now().Add(lives).Unix(), "jti": fmt.Sprint(k.minted.Add(1)),
	})
}

// TestVerifiedNeedsNoProof: whom the bridge has verified itself has what the bridge
// holds without the backend, with any token, and nobody else has (DESIGN "Principal").
func TestVerifiedNeedsNoProof(t *testing.T) {
	t.Parallel()
	for _, face := range []string{"legacy", "modern"} {
		t.Run(face+" face", func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t, servers[map[string]string{"legacy": "modern", "modern": "legacy"}[face]]())
			cellOf(t, k, func(c *eraCell) {
				c.set = append(slices.Clone(verifying), "host_tasks=slow", "host_grace=400ms", "times.call_idle=2s", "backends.quarry.same_resource=true")
				c.logs = "level=ERROR" // the backend is ill
				c.restart()
				one := &party{eraCell: c, face: face, auth: k.token("ada")}
				eve := &party{eraCell: c, face: face, auth: k.token("eve")}
				var held, event string
				if face == "legacy" {
					o := c.old(one.auth)
					one.session, eve.session = o.session, c.old(eve.auth).session
					held = o.task("add", `{"a":1,"b":2}`)
					get := o.get()
					event = get.firstID()
					get.hangUp()
				} else {
					r := &recentClient{eraCell: c, auth: one.auth}
					held = text(r.call("work", `{"ms":1000}`), "result", "taskId")
					time.Sleep(2 * time.Second)
					r.about("tasks/get", held, "") // its result is fetched once
				}
				k.status.Store(http.StatusServiceUnavailable)
				time.Sleep(3 * time.Minute)
				one.auth = k.token("ada")
				for _, tt := range []struct{ face, name, value, says string }{
					{"legacy", "tasks/list cursor", "", held},
					{"legacy", "tasks/get taskId", held, `"completed"`},
					{"legacy", "tasks/result taskId", held, `"sum":3`},
					{"legacy", "GET Last-Event-ID", event, "id: "},
					{"modern", "tasks/get taskId", held, "worked 1000"},
				} {
					if tt.face != face {
						continue
					}
					a := attemptOf(t, face, tt.name)
					if tt.value == "" { // the first page
						a.body = strings.Replace(a.body, `"cursor":"`+hole+`",`, "", 1)
					}
					if got := one.try(a, tt.value); got.status != http.StatusOK || !strings.Contains(got.body, tt.says) {
						t.Errorf("%s: HTTP %d %s", tt.name, got.status, got.body)
					}
					if got := eve.try(a, tt.value); strings.Contains(got.body, tt.says) {
						t.Errorf("%s of another: HTTP %d %s", tt.name, got.status, got.body)
					}
				}
			})
		})
	}
}

func attemptOf(t *testing.T, face, name string) attempt {
	t.Helper()
	for _, a := range attempts(face) {
		if a.name == name {
			return a
		}
	}
	t.Fatalf("no attempt is called %s", name)
	return attempt{}
}

// TestSubjectOfAnotherIssuer: a bridge has one issuer. When that is replaced, a subject of
// the same name is somebody else, and nobody is the one of before until it is back
// (DESIGN "Principal").
func TestSubjectOfAnotherIssuer(t *testing.T) {
	t.Parallel()
	const other = "https://other.example"
	for _, face := range []string{"legacy", "modern"} {
		t.Run(face+" face", func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t, servers[map[string]string{"legacy": "modern", "modern": "legacy"}[face]]())
			cellOf(t, k, func(c *eraCell) {
				c.set = append(slices.Clone(verifying), "page_size=1", "limits.sessions_per_address=10000")
				c.logs = "rule=related-task" // a client's, of the other era
				c.restart()
				one := c.settle(face, k.token("ada"))
				one.holdings = slices.DeleteFunc(one.holdings, func(h holding) bool {
					return h.kind == "event of a session" || h.kind == "question" || h.kind == "request state" // ends with the process
				})
				issuer := slices.Index(c.set, "auth.issuer="+issuing)
				c.set[issuer] = "auth.issuer=" + other
				c.restart()
				one.hidden(c, k.tokenOf(other, "ada", time.Hour), 4*thin)
				for i := range one.holdings {
					for j, a := range attempts(face) {
						if a.verb != http.MethodPost || (i+j)%(8*thin) != 0 {
							continue
						}
						if got := one.try(a, one.holdings[i].value); got.status != http.StatusUnauthorized {
							t.Errorf("with a token of the issuer of before, %s: HTTP %d", a.name, got.status)
						}
					}
				}
				c.set[issuer] = "auth.issuer=" + issuing
				c.restart()
				one.auth = k.token("ada")
				one.alive()
			})
		})
	}
}
