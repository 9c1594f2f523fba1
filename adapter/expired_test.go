package adapter_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
)

// TestInvalidTokensReadNothing: with a token that has expired, whose key was withdrawn,
// or that is somebody else's to judge, nothing is had of its subject's on any method of
// either face, whatever it is of and whether it is there; with a good one everything is
// as it was (DESIGN "Principal", A-L17).
func TestInvalidTokensReadNothing(t *testing.T) {
	t.Parallel()
	for _, face := range []string{"legacy", "modern"} {
		for era, server := range servers {
			t.Run(face+" face, "+era+" backend", func(t *testing.T) {
				t.Parallel()
				k := newKeyed(t, server())
				cellOf(t, k, func(c *eraCell) {
					c.set = append(slices.Clone(verifying), "page_size=1")
					c.logs = "rule=related-task" // a client's, of the other era
					c.restart()
					ping := attemptOf(t, face, "tools/list taskId")
					(&party{eraCell: c, face: face, auth: k.token("ada")}).try(ping, "x")
					time.Sleep(9 * time.Minute) // the keys are as good as stale
					one := c.settle(face, k.tokenOf(issuing, "ada", time.Minute))
					withdrawn := k.token("ada")
					bad := map[string]string{
						"no":              "",
						"another scheme":  "Basic YWRhOmFkYQ==",
						"a made-up":       "Bearer ada",
						"another issuer":  k.tokenOf("https://other.example", "ada", time.Hour),
						"a foreign key":   "Bearer " + authtest.Sign(t, authtest.NewEdKey(t, "first"), map[string]any{"iss": issuing, "sub": "ada", "aud": "bridge", "exp": time.Now().Add(time.Hour).Unix()}),
						"another's ear":   "Bearer " + k.issuer.Token(t, map[string]any{"iss": issuing, "sub": "ada", "aud": "other", "exp": time.Now().Add(time.Hour).Unix()}),
						"an expired":      one.auth,
						"a withdrawn key": withdrawn,
					}
					k.issuer.Rotate(authtest.NewEdKey(t, "second"))
					time.Sleep(150 * time.Second)
					one.auth = withdrawn
					one.try(ping, "x") // has the keys looked at
					time.Sleep(11 * time.Second)
					one.shutOut(bad)
					one.auth = k.token("ada")
					one.alive()
					one.whole()
				})
			})
		}
	}
}

// shutOut tries everything with tokens that are none.
func (e *estate) shutOut(bad map[string]string) {
	e.t.Helper()
	names := []string{"an expired", "a withdrawn key"}
	for name := range bad {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	said := make(map[string]map[string]bool) // by token
	for i, h := range e.holdings {
		for j, a := range attempts(e.face) {
			for k, name := range names {
				if k > 1 && (i+j)%(len(names)-2) != k-2 || k <= 1 && (i+j)%(2*thin) != k {
					continue
				}
				p := *e.party
				p.auth = bad[name]
				got := p.try(a, h.value)
				if e.face == "modern" && a.verb != http.MethodPost {
					if got.status != http.StatusMethodNotAllowed {
						e.t.Errorf("%s token, %s, in %s: HTTP %d", name, h.kind, a.name, got.status)
					}
					continue
				}
				challenge := got.header.Get("WWW-Authenticate")
				if got.status != http.StatusUnauthorized || !strings.HasPrefix(challenge, "Bearer") || !strings.Contains(challenge, "resource_metadata=") ||
					bad[name] != "" && !strings.Contains(challenge, `error="invalid_token"`) {
					e.t.Errorf("%s token, %s, in %s: HTTP %d %s %s", name, h.kind, a.name, got.status, challenge, got.body)
				}
				if said[name] == nil {
					said[name] = map[string]bool{}
				}
				said[name][got.shown(h.value)] = true
			}
		}
	}
	for _, name := range names {
		if len(said[name]) != 1 {
			e.t.Errorf("%s token has %d different answers: %q", name, len(said[name]), slices.Sorted(maps.Keys(said[name])))
		}
	}
}

// TestStreamsEndWithTheToken: a stream that only listens ends when the token does that it
// was opened with, at whichever process, and goes on with another one; a call that was
// made in time is answered (DESIGN "Principal", §4.2, A-L16).
func TestStreamsEndWithTheToken(t *testing.T) {
	t.Parallel()
	const valid, leeway = 2 * time.Minute, 30 * time.Second
	for _, face := range []string{"legacy", "modern"} {
		for era, server := range servers {
			t.Run(face+" face, "+era+" backend", func(t *testing.T) {
				t.Parallel()
				k := newKeyed(t, server())
				cellOf(t, k, func(c *eraCell) {
					c.set = slices.Clone(verifying)
					c.share()
					twin := c.beside()
					defer twin.end()
					token := k.tokenOf(issuing, "ada", valid)
					var call chan string
					var open func(at *eraCell, auth string) *incoming
					if face == "legacy" {
						o := c.old(token)
						call = openTill(o.open("tools/call", `{"name":"work","arguments":{"ms":200000}}`))
						open = func(at *eraCell, auth string) *incoming {
							return (&oldClient{eraCell: at, session: o.session, auth: auth}).get()
						}
					} else {
						r := &recentClient{eraCell: c, auth: token}
						call = openTill(r.open("tools/call", "work", `{}`, `,"name":"work","arguments":{"ms":200000}`))
						open = func(at *eraCell, auth string) *incoming {
							return (&recentClient{eraCell: at, auth: auth}).open("subscriptions/listen", "", canTasks, `,"notifications":{"toolsListChanged":true}`)
						}
					}
					ends := map[string]chan string{"here": openTill(open(c, token)), "at another process": openTill(open(twin, token))}
					time.Sleep(valid - time.Second)
					for where, end := range ends {
						select {
						case got := <-end:
							t.Errorf("%s: the stream ended before the token: %s", where, got)
						default:
						}
					}
					time.Sleep(leeway + 2*time.Second)
					for where, end := range ends {
						select {
						case got := <-end:
							if face == "modern" && !strings.Contains(got, `"resultType":"complete"`) {
								t.Errorf("%s: the subscription ended with %s", where, got)
							}
						default:
							t.Errorf("%s: the stream has outlived the token", where)
						}
					}
					if in := open(c, token); in.status != http.StatusUnauthorized {
						t.Errorf("with the expired token: HTTP %d", in.status)
					}
					if in := open(c, k.token("ada")); in.status != http.StatusOK {
						t.Errorf("with another one: HTTP %d", in.status)
					}
					if got := <-call; !strings.Contains(got, "worked") {
						t.Errorf("the call was answered %s", got)
					}
				})
			})
		}
	}
}

// openTill reads a stream, and says what it was when it has ended.
func openTill(in *incoming) chan string {
	done := make(chan string, 1)
	go func() {
		body, _ := io.ReadAll(in.lines)
		done <- string(body)
	}()
	return done
}
