package balance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/balance"
)

func replica(t *testing.T, name string) (*url.URL, func()) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, name+" "+r.Host+" "+r.URL.Path+" "+string(body))
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, s.Close
}

func ask(t *testing.T, b http.Handler) (status int, answer string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://front.test/mcp", strings.NewReader("hello"))
	b.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestBalancer: every replica gets some of the requests, whole; one that is down gets
// none, and nobody notices.
func TestBalancer(t *testing.T) {
	t.Parallel()
	one, stop := replica(t, "one")
	two, _ := replica(t, "two")
	b := balance.New(one, two)
	seen := make(map[string]int)
	for range 100 {
		_, answer := ask(t, b)
		seen[answer]++
	}
	if seen["one front.test /mcp hello"] < 10 || seen["two front.test /mcp hello"] < 10 || len(seen) != 2 {
		t.Errorf("answers %v", seen)
	}
	stop()
	for range 20 {
		if status, answer := ask(t, b); status != http.StatusOK || !strings.HasPrefix(answer, "two ") {
			t.Fatalf("HTTP %d %q", status, answer)
		}
	}
	b.Set()
	if status, _ := ask(t, b); status != http.StatusBadGateway {
		t.Errorf("HTTP %d without replicas", status)
	}
}
