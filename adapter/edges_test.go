package adapter_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestRebinding: on every listener, whatever is asked for and however, a foreign Host or
// Origin is refused ahead of everything else: ahead of 401, 404 and 405, of a preflight,
// and of the body.
func TestRebinding(t *testing.T) {
	t.Parallel()
	_, settings, token := bearers(t)
	back := newBackendHost(t, modernEra)
	s := newSite(t, "admin: {listen: \"127.0.0.1:0\", token: \"${ADMIN}\"}\nauth: {"+settings+"}\nbackends: {a: {url: "+back.URL+"/mcp}}\n"+
		"faces: {legacy: {allowed_origins: [https://old.example]}, modern: {allowed_origins: [https://new.example]}}\n", "ADMIN=secret")
	origins := map[string]string{"/legacy": "https://old.example", "/modern": "https://new.example"}
	var paths []string
	for _, path := range []string{"/legacy/a", "/modern/a", "/legacy/none", "/", "/x", "/.well-known/oauth-protected-resource/legacy/a", "/.well-known/oauth-protected-resource/modern/a"} {
		paths = append(paths, s.base+path)
	}
	for _, path := range []string{"/healthz", "/readyz", "/", "/metrics"} {
		paths = append(paths, "http://"+s.admin+path)
	}
	for _, path := range paths {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions, http.MethodPut, http.MethodHead} {
			body := ""
			if method == http.MethodPost {
				body = strings.Repeat("{", 100)
			}
			good := []string{"Authorization", "Bearer " + token("alice")}
			if !strings.HasPrefix(path, s.base) {
				good[1] = "Bearer secret"
			}
			for _, foreign := range [][]string{
				{"Host", "evil.example"},
				{"Host", "evil.example:8720"},
				{"Host", "127.0.0.1.evil.example"},
				{"Origin", "https://evil.example"},
				{"Origin", "null"},
				{"Host", "evil.example", "Origin", "http://evil.example"},
				{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"},
			} {
				r := s.do(method, path, body, append(good, foreign...)...)
				if r.status != http.StatusForbidden || r.header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s with %q: %d %v", method, path, foreign, r.status, r.header)
				}
			}
			if r := s.do(method, path, body, good...); r.status == http.StatusForbidden {
				t.Errorf("%s %s: 403 %s", method, path, r.body)
			}
		}
		for prefix, origin := range origins {
			own := strings.Contains(path, prefix+"/a")
			r := s.do(http.MethodOptions, path, "", "Origin", origin, "Access-Control-Request-Method", "POST",
				"Access-Control-Request-Headers", "authorization, content-type, mcp-protocol-version, mcp-session-id, last-event-id, mcp-method, mcp-name, mcp-param-region")
			allowed, shared := r.header.Get("Access-Control-Allow-Origin"), strings.HasPrefix(path, s.base) && !strings.Contains(path, "/a")
			switch {
			case own && (r.status != http.StatusNoContent || allowed != origin || !strings.Contains(r.header.Get("Access-Control-Allow-Headers"), "mcp-param-region")):
				t.Errorf("preflight of %s for %s: %d %v", path, origin, r.status, r.header)
			case !own && !shared && r.status != http.StatusForbidden:
				t.Errorf("preflight of %s for %s, which is not its own: %d %v", path, origin, r.status, r.header)
			}
		}
	}
	if got := back.all(); got != "[]" {
		t.Errorf("the backend was reached: %s", got)
	}

	// A script of an allowed origin can read that it has to log in, and where.
	r := s.do(http.MethodPost, "/legacy/a", initializing, append(posting(), "Origin", "https://old.example")...)
	if r.status != http.StatusUnauthorized || r.header.Get("Access-Control-Allow-Origin") != "https://old.example" ||
		!strings.Contains(r.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
		t.Errorf("401 for a script: %d %v", r.status, r.header)
	}
	r = s.do(http.MethodPost, "/legacy/a", initializing, append(posting(), "Origin", "https://old.example", "Authorization", "Bearer "+token("alice"))...)
	if r.status != http.StatusOK || !strings.Contains(r.header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
		t.Errorf("a session for a script: %d %v", r.status, r.header)
	}
}
