package adapter_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
)

// use does what a client does with a backend, on both faces.
func (s *site) use(backend string, header ...string) {
	s.t.Helper()
	session, _ := s.initialize(backend, header...)
	for _, method := range []string{"tools/list", "prompts/list", "tasks/list", "ping"} {
		s.ask("legacy", backend, session, method, header...)
	}
	call := append(posting(), "Mcp-Session-Id", session)
	s.do(http.MethodPost, "/legacy/"+backend, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"task":{}}}`, append(call, header...)...)
	s.do(http.MethodDelete, "/legacy/"+backend, "", append([]string{"Mcp-Session-Id", session}, header...)...)
	for _, method := range []string{"server/discover", "tools/list", "prompts/list"} {
		s.ask("modern", backend, "", method, header...)
	}
	s.do(http.MethodPost, "/modern/"+backend, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":`+string(clientMeta(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`))+`}}`,
		append(append(posting(), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "add"), header...)...)
}

// TestCredentials: a caller's credential goes to the backend of its route, if that is
// configured to get it, and nowhere else; not where a backend redirects to either.
func TestCredentials(t *testing.T) {
	t.Parallel()
	for _, e := range []era{modernEra, legacyEra} {
		for name, keys := range map[string]bool{"without a key set": false, "with a key set": true} {
			t.Run("DESIGN Credentials: "+string(e)+" backends "+name, func(t *testing.T) {
				t.Parallel()
				credential, settings := "Bearer callers-own", ""
				if keys {
					_, set, token := bearers(t)
					settings, credential = "auth: {"+set+"}\n", "Bearer "+token("alice")
				}
				hosts := map[string]*backendHost{}
				for _, name := range []string{"plain", "same", "static", "named", "none", "away"} {
					hosts[name] = newBackendHost(t, e)
				}
				target := newBackendHost(t, e)
				var turn atomic.Int64
				hosts["away"].refuses(func(w http.ResponseWriter, r *http.Request) {
					kinds := []int{http.StatusFound, http.StatusSeeOther, http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}
					http.Redirect(w, r, target.URL+"/mcp", kinds[int(turn.Add(1))%len(kinds)])
				})
				s := newSite(t, settings+`backends:
  plain: {url: `+hosts["plain"].URL+`/mcp}
  same: {url: `+hosts["same"].URL+`/mcp, same_resource: true}
  static: {url: `+hosts["static"].URL+`/mcp, credentials: static, header: {value: "Bearer ${ONE}"}}
  named: {url: `+hosts["named"].URL+`/mcp, credentials: static, header: {name: x-api-key, value: "${TWO}"}}
  none: {url: `+hosts["none"].URL+`/mcp, credentials: none}
  away: {url: `+hosts["away"].URL+`/mcp, same_resource: true, era: `+string(e)+`}
`, "ONE=static-one", "TWO=static-two")
				for _, backend := range slices.Sorted(maps.Keys(hosts)) {
					s.use(backend, "Authorization", credential)
				}
				plain := credential
				if keys {
					plain = "-"
				}
				for backend, want := range map[string]string{
					"plain": plain, "same": credential, "static": "Bearer static-one", "named": "-", "none": "-", "away": credential,
				} {
					if got := hosts[backend].values("Authorization"); !maps.Equal(got, map[string]bool{want: true}) {
						t.Errorf("%s: Authorization %v, want %q alone", backend, got, want)
					}
					key := "-"
					if backend == "named" {
						key = "static-two"
					}
					if got := hosts[backend].values("X-Api-Key"); !maps.Equal(got, map[string]bool{key: true}) {
						t.Errorf("%s: X-Api-Key %v, want %q alone", backend, got, key)
					}
				}
				if got := target.all(); got != "[]" {
					t.Errorf("a redirect was followed: %s", got)
				}
			})
		}
	}
}

// TestSecretsStayInside: while secrets of every kind flow and everything goes wrong that
// can, none of them is written to a log or told to a client.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	issuer, settings, token := bearers(t)
	good, forged := token("alice"), authtest.Sign(t, authtest.NewKey(t, "first"), map[string]any{
		"iss": "https://id.example", "sub": "mallory-sub", "aud": "bridge", "exp": time.Now().Add(time.Hour).Unix(),
	})
	expired := issuer.Token(t, map[string]any{"iss": "https://id.example", "sub": "old-sub", "aud": "bridge", "exp": 1})
	well, sick := newBackendHost(t, modernEra), newBackendHost(t, legacyEra)
	trouble := []http.HandlerFunc{
		func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusUnauthorized)
		},
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("WWW-Authenticate", r.Header.Get("Authorization"))
			http.Error(w, "no", http.StatusForbidden)
		},
		func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization")+r.URL.RawQuery, http.StatusInternalServerError)
		},
		func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/"+r.Header.Get("Authorization"), http.StatusFound)
		},
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(r.Header.Get("Authorization")))
		},
	}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) } //nolint:forbidigo // cuts the connection
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	s := newSite(t, "auth: {"+settings+`}
secrets: ["${SEAL}"]
admin: {listen: "127.0.0.1:0", token: "${ADMIN}"}
backends:
  same: {url: "`+sick.URL+`/mcp?key=${KEY}", same_resource: true}
  static: {url: "`+sick.URL+`/mcp?key=${KEY}", credentials: static, header: {value: "Bearer ${STATIC}"}}
  well: {url: "`+well.URL+`/mcp?key=${KEY}", same_resource: true}
  dead: {url: "`+dead.URL+`/mcp?key=${KEY}", same_resource: true}
`, "SEAL=sealing-secret-0123456789", "ADMIN=admin-secret", "STATIC=static-secret", "KEY=url-secret")

	for _, wrong := range append(trouble, nil) {
		sick.refuses(wrong)
		var group sync.WaitGroup
		for _, backend := range []string{"same", "static", "well"} {
			for _, credential := range []string{good, forged, expired, "opaque-secret"} {
				group.Go(func() { s.use(backend, "Authorization", "Bearer "+credential) })
			}
		}
		group.Wait()
	}
	sick.refuses(cut)
	for _, backend := range []string{"same", "dead"} {
		s.initialize(backend, "Authorization", "Bearer "+good)
		s.ask("modern", backend, "", "tools/list", "Authorization", "Bearer "+good)
	}
	issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) })
	s.use("well", "Authorization", "Bearer "+authtest.Sign(t, authtest.NewKey(t, "second"), map[string]any{"iss": "x"}))
	for _, path := range []string{"/healthz", "/readyz", "/x"} {
		s.do(http.MethodGet, "http://"+s.admin+path, "", "Authorization", "Bearer admin-secret")
		s.do(http.MethodGet, "http://"+s.admin+path, "", "Authorization", "Bearer wrong-admin-secret")
	}

	written := s.everything()
	if len(written) < 5000 || !strings.Contains(written, "request failed") {
		t.Fatalf("little was written:\n%s", written)
	}
	for what, secret := range map[string]string{
		"a caller's token": good, "its signature": good[strings.LastIndexByte(good, '.')+1:], "a forged token": forged, "an expired one": expired,
		"an opaque one": "opaque-secret", "a static header": "static-secret", "the admin token": "admin-secret", "a sealing secret": "sealing-secret",
		"a query of a backend's URL": "url-secret", "a claim": "mallory-sub", "another claim": "old-sub",
	} {
		for form, text := range map[string]string{"": secret, ", escaped": url.QueryEscape(secret)} {
			if i := strings.Index(written, text); i >= 0 {
				t.Errorf("%s%s was written: …%s", what, form, written[max(0, i-200):min(len(written), i+60)])
			}
		}
	}
}
