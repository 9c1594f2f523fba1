package edge_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

// FuzzHeaders: whatever a client, or the page that a browser was tricked with, puts into
// its headers, nothing gets past the guard that does not name a host of ours and come
// from an origin of ours or an allowed one, and only the latter is named to a browser.
func FuzzHeaders(f *testing.F) {
	for _, host := range []string{"localhost", "LOCALHOST:8720", "[::1]:1", "::1", "evil.example", "localhost.evil.example", "localhost@evil.example", "", ":", "[", "localhost:x:y"} {
		for _, origin := range []string{"", "null", "http://localhost:1", "https://app.example", "https://app.example.evil.example", "http://localhost@evil.example", "http://[::1", "file://localhost", "%"} {
			f.Add(host, origin, "application/json;q=0, text/*")
		}
	}
	guard := &edge.Guard{Hosts: []string{"localhost", "127.0.0.1", "[::1]"}, Origins: []string{"https://app.example"}}
	gin.SetMode(gin.TestMode)
	f.Fuzz(func(t *testing.T, host, origin, accept string) {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		c.Request = httptest.NewRequest(http.MethodPost, "/legacy/a", nil)
		c.Request.Host = host
		c.Request.Header = http.Header{"Origin": {origin}, "Accept": {accept}}
		guard.Check(c)
		foreign := func(text string) bool {
			return !slices.ContainsFunc(guard.Hosts, func(name string) bool { return strings.Contains(strings.ToLower(text), name) })
		}
		allowed := slices.Contains(guard.Origins, strings.ToLower(origin))
		if !c.IsAborted() && (foreign(host) || origin != "" && !allowed && foreign(origin)) {
			t.Errorf("passed: host %q, origin %q", host, origin)
		}
		if got := w.Header().Get("Access-Control-Allow-Origin"); (got != "") && !allowed {
			t.Errorf("the origin %q is told %q", origin, got)
		}
		edge.ParseAccept(c.Request) // must not panic
	})
}
