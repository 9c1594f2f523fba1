package adapter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestKeySet: with a key set every caller of both faces needs a token that is good for
// the route, and a refreshed one is the same principal.
func TestKeySet(t *testing.T) {
	t.Parallel()
	issuer, settings, token := bearers(t)
	s := newSite(t, "auth: {"+settings+", public_url: https://bridge.example/mcp}\nbackends: {a: {url: "+newBackendHost(t, modernEra).URL+"/mcp}}\n")
	mine := func(subject string) []string { return []string{"Authorization", "Bearer " + token(subject)} }
	const metadata = `resource_metadata="https://bridge.example/.well-known/oauth-protected-resource/mcp/`

	for _, face := range []string{"legacy", "modern"} {
		for name, tt := range map[string]struct {
			header []string
			want   string
		}{
			"none":         {nil, "Bearer " + metadata + face + `/a"`},
			"not a bearer": {[]string{"Authorization", "Basic eDp5"}, `Bearer error="invalid_token", ` + metadata + face + `/a"`},
			"opaque":       {[]string{"Authorization", "Bearer x"}, `Bearer error="invalid_token", error_description="the token is no JWT with an accepted signature algorithm", ` + metadata + face + `/a"`},
			"in the URL":   {[]string{"?", ""}, "Bearer " + metadata + face + `/a"`},
			"of the wrong route": {[]string{"Authorization", "Bearer " + issuer.Token(t, map[string]any{
				"iss": "https://id.example", "sub": "alice", "aud": "https://bridge.example/mcp/" + face + "/b", "exp": time.Now().Add(time.Hour).Unix(),
			})}, `Bearer error="invalid_token", error_description="the token is for another audience", ` + metadata + face + `/a"`},
		} {
			path := "/" + face + "/a"
			header := append(posting(), tt.header...)
			if name == "in the URL" {
				path, header = path+"?access_token="+token("alice"), posting()
			}
			r := s.do(http.MethodPost, path, initializing, header...)
			if got := r.header.Get("WWW-Authenticate"); r.status != http.StatusUnauthorized || got != tt.want {
				t.Errorf("%s, a credential %s: %d %s\nwant 401 %s", face, name, r.status, got, tt.want)
			}
			if !strings.HasPrefix(r.body, `{"jsonrpc":"2.0","error":{"code":-32600,`) {
				t.Errorf("%s, a credential %s: %s", face, name, r.body)
			}
		}
		resource := issuer.Token(t, map[string]any{
			"iss": "https://id.example", "sub": "alice", "aud": []string{"x", "https://bridge.example/mcp/" + face + "/a"}, "exp": time.Now().Add(time.Hour).Unix(),
		})
		session, r := s.initialize("a", "Authorization", "Bearer "+resource)
		if face == "modern" {
			r = s.ask(face, "a", session, "tools/list", "Authorization", "Bearer "+resource)
		} else if session == "" {
			t.Errorf("no session: %+v", r)
		}
		if r.status != http.StatusOK {
			t.Errorf("a token for the route itself: %d %s", r.status, r.body)
		}
	}

	session, r := s.initialize("a", mine("alice")...)
	if session == "" {
		t.Fatalf("no session: %+v", r)
	}
	if r := s.ask("legacy", "a", session, "tools/list", mine("alice")...); r.status != http.StatusOK {
		t.Errorf("a refreshed token: %d %s", r.status, r.body)
	}
	if foreign, unknown := s.ask("legacy", "a", session, "tools/list", mine("bob")...), s.ask("legacy", "a", "nosuch", "tools/list", mine("bob")...); foreign.status != http.StatusNotFound || foreign.body != unknown.body {
		t.Errorf("another subject: %d %s, unknown: %s", foreign.status, foreign.body, unknown.body)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if r := s.do(method, "/legacy/a", "", "Mcp-Session-Id", session, "Accept", "text/event-stream"); r.status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", method, r.status)
		}
		if r := s.do(method, "/modern/a", "", "Accept", "text/event-stream"); r.status != http.StatusMethodNotAllowed {
			t.Errorf("%s on the modern face: %d", method, r.status)
		}
	}
}

// TestKeySetAway: while nobody can be verified nobody is let in.
func TestKeySetAway(t *testing.T) {
	t.Parallel()
	issuer, settings, token := bearers(t)
	issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	s := newSite(t, "auth: {"+settings+"}\nbackends: {a: {url: "+newBackendHost(t, modernEra).URL+"/mcp}}\n")
	for _, face := range []string{"legacy", "modern"} {
		r := s.do(http.MethodPost, "/"+face+"/a", initializing, append(posting(), "Authorization", "Bearer "+token("alice"))...)
		if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" || !strings.Contains(r.body, "-32603") {
			t.Errorf("%s: %d %v %s", face, r.status, r.header, r.body)
		}
	}
}

// TestMetadata: it is built from the configuration, whatever Host a client sends.
func TestMetadata(t *testing.T) {
	t.Parallel()
	_, settings, _ := bearers(t)
	backends := "backends: {a: {url: " + newBackendHost(t, modernEra).URL + "/mcp}}\n"
	const hosts = "allowed_hosts: [127.0.0.1, bridge.example, other.example]\nfaces: {legacy: {allowed_origins: [https://app.example]}}\n"
	for name, tt := range map[string]struct{ auth, path, want string }{
		"with a key set": {
			"auth: {" + settings + ", public_url: https://bridge.example}\n", "/legacy/a",
			`{"resource":"https://bridge.example/legacy/a","authorization_servers":["https://id.example"],"bearer_methods_supported":["header"]}`,
		},
		"behind a prefix": {
			"auth: {" + settings + ", public_url: https://bridge.example/x/y/}\n", "/x/y/modern/a",
			`{"resource":"https://bridge.example/x/y/modern/a","authorization_servers":["https://id.example"],"bearer_methods_supported":["header"]}`,
		},
		"behind a prefix that a proxy takes away": {
			"auth: {" + settings + ", public_url: https://bridge.example/x/y/}\n", "/modern/a",
			`{"resource":"https://bridge.example/x/y/modern/a","authorization_servers":["https://id.example"],"bearer_methods_supported":["header"]}`,
		},
		"with servers of its own": {
			"auth: {public_url: https://bridge.example, authorization_servers: [https://one.example, https://two.example/]}\n", "/modern/a",
			`{"resource":"https://bridge.example/modern/a","authorization_servers":["https://one.example","https://two.example/"],"bearer_methods_supported":["header"]}`,
		},
		"of a backend that names none": {"auth: {public_url: https://bridge.example}\n", "/modern/a", ""},
		"of no backend":                {"auth: {" + settings + "}\n", "/modern/b", ""},
	} {
		t.Run("DESIGN Credentials: metadata "+name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, tt.auth+hosts+backends)
			for _, host := range []string{"127.0.0.1", "bridge.example:1", "other.example"} {
				r := s.do(http.MethodGet, "/.well-known/oauth-protected-resource"+tt.path, "", "Host", host, "X-Forwarded-Host", "evil.example")
				if tt.want == "" && r.status != http.StatusNotFound || tt.want != "" && (r.status != http.StatusOK || r.body != tt.want || r.header.Get("Content-Type") != "application/json") {
					t.Errorf("Host %s: %d %s\nwant %s", host, r.status, r.body, tt.want)
				}
			}
			if r := s.do(http.MethodGet, "/.well-known/oauth-protected-resource"+tt.path, "", "Host", "evil.example"); r.status != http.StatusForbidden {
				t.Errorf("a foreign Host: %d", r.status)
			}
			if tt.path != "/legacy/a" {
				return
			}
			r := s.do(http.MethodOptions, "/.well-known/oauth-protected-resource"+tt.path, "", "Origin", "https://app.example",
				"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "mcp-protocol-version")
			if r.status != http.StatusNoContent || r.header.Get("Access-Control-Allow-Origin") != "https://app.example" || r.header.Get("Access-Control-Allow-Headers") != "mcp-protocol-version" {
				t.Errorf("preflight: %d %v", r.status, r.header)
			}
		})
	}
}

// TestBackendNamesItsServers: where the backend verifies, its refusal leads a client to
// the servers that the backend trusts, by an address of the bridge (A-L17).
func TestBackendNamesItsServers(t *testing.T) {
	t.Parallel()
	for _, e := range []era{modernEra, legacyEra} {
		t.Run("A-L17 "+string(e), func(t *testing.T) {
			t.Parallel()
			back := newBackendHost(t, e)
			back.refuses(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/.well-known/oauth-protected-resource/mcp" {
					fmt.Fprint(w, `{"resource":"https://inner.example/mcp","authorization_servers":["https://login.example"],"scopes_supported":["files"]}`)
					return
				}
				w.Header().Set("WWW-Authenticate", `Bearer scope="files", resource_metadata="https://inner.example/x"`)
				w.WriteHeader(http.StatusUnauthorized)
			})
			s := newSite(t, "backends: {a: {url: "+back.URL+"/mcp, era: "+string(e)+"}, static: {url: "+back.URL+`/mcp, credentials: static, header: {value: "Bearer ${T}"}}, none: {url: `+back.URL+"/mcp, credentials: none}}\n", "T=t")
			for _, face := range []string{"legacy", "modern"} {
				ask := func(backend string) response {
					if face == "modern" {
						return s.ask(face, backend, "", "server/discover")
					}
					_, r := s.initialize(backend)
					return r
				}
				r := ask("a")
				place := s.base + "/.well-known/oauth-protected-resource/" + face + "/a"
				if got, want := r.header.Get("WWW-Authenticate"), `Bearer scope="files", resource_metadata="`+place+`"`; r.status != http.StatusUnauthorized || got != want {
					t.Errorf("%s: %d %s, want %s", face, r.status, got, want)
				}
				r = s.do(http.MethodGet, place, "")
				if want := `{"resource":"` + s.base + "/" + face + `/a","authorization_servers":["https://login.example"],"scopes_supported":["files"],"bearer_methods_supported":["header"]}`; r.body != want {
					t.Errorf("%s: %s\nwant %s", face, r.body, want)
				}
				for _, own := range []string{"static", "none"} {
					r := ask(own)
					if r.status != http.StatusOK || r.header.Get("WWW-Authenticate") != "" || !strings.Contains(r.body, `"code":-32603,"message":"backend answered HTTP 401"`) {
						t.Errorf("%s, a backend with credentials: %s: %d %v %s; its callers cannot cure that", face, own, r.status, r.header, r.body)
					}
					if r := s.do(http.MethodGet, "/.well-known/oauth-protected-resource/"+face+"/"+own, ""); r.status != http.StatusNotFound {
						t.Errorf("%s: metadata of %s: %d", face, own, r.status)
					}
				}
			}
		})
	}
}
