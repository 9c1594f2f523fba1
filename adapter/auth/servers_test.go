package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/auth"
	"github.com/taskbridge/taskbridge/internal/env"
)

// site answers by path; any other path is 404.
type site struct {
	mu    sync.Mutex
	pages map[string]http.HandlerFunc
	asked []string
	creds []string
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Host+r.URL.Path)
	s.creds = append(s.creds, r.Header.Get("Authorization")+r.URL.RawQuery)
	page := s.pages[r.URL.Path]
	s.mu.Unlock()
	if page == nil {
		http.NotFound(w, r)
		return
	}
	page(w, r)
}

// log returns what was asked so far, with the credentials that came along.
func (s *site) log() (asked, creds []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked), slices.Clone(s.creds)
}

func (s *site) times() int {
	asked, _ := s.log()
	return len(asked)
}

func (s *site) become(pages map[string]http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = pages
}

func page(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func challenge(header string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", header)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// names is metadata that names these servers.
func names(servers ...string) http.HandlerFunc {
	return page(`{"resource":"x","authorization_servers":["` + strings.Join(servers, `","`) + `"],"scopes_supported":["a","b c","d\"","e"]}`)
}

func find(t *testing.T, s *site, endpoint string) (*auth.Servers, func() (auth.Metadata, error)) {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	servers := auth.NewServers(auth.ServersOptions{URL: u, HTTP: serve(t, s), Env: env.System(), Timeout: 5 * time.Second})
	return servers, func() (auth.Metadata, error) { return servers.Get(t.Context()) }
}

func TestServers(t *testing.T) {
	t.Parallel()
	const root, deep, server = "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"
	const endpoint = "http://backend.example/mcp?key=secret"
	big := names(strings.Repeat("https://a.example/", 10000))
	for name, tt := range map[string]struct {
		endpoint string
		pages    map[string]http.HandlerFunc
		want     []string
	}{
		"nowhere":                    {endpoint, nil, nil},
		"at its path":                {endpoint, map[string]http.HandlerFunc{deep: names("https://id.example"), root: names("https://other.example")}, []string{"https://id.example"}},
		"at its host":                {endpoint, map[string]http.HandlerFunc{root: names("https://id.example", "https://two.example")}, []string{"https://id.example", "https://two.example"}},
		"without a path":             {"http://backend.example/", map[string]http.HandlerFunc{root: names("https://id.example")}, []string{"https://id.example"}},
		"where its challenge points": {endpoint, map[string]http.HandlerFunc{"/mcp": challenge(`Bearer error="x", resource_metadata="http://backend.example/meta"`), "/meta": names("https://id.example")}, []string{"https://id.example"}},
		"where a foreign host is":    {endpoint, map[string]http.HandlerFunc{"/mcp": challenge(`Bearer resource_metadata="http://evil.example/meta"`), "/meta": names("https://id.example")}, nil},
		"where another scheme is":    {endpoint, map[string]http.HandlerFunc{"/mcp": challenge(`Bearer resource_metadata="file://backend.example/meta"`)}, nil},
		"behind a redirect": {endpoint, map[string]http.HandlerFunc{deep: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://evil.example/meta", http.StatusFound)
		}, "/meta": names("https://evil.example")}, nil},
		"as its own server (2025-03-26)": {endpoint, map[string]http.HandlerFunc{server: page(`{"issuer":"http://127.0.0.1:9"}`)}, []string{"http://127.0.0.1:9"}},
		"not as a nameless server":       {endpoint, map[string]http.HandlerFunc{server: page(`{}`)}, nil},
		"not one without TLS":            {endpoint, map[string]http.HandlerFunc{deep: names("http://id.example")}, nil},
		"not one of another scheme":      {endpoint, map[string]http.HandlerFunc{deep: names("javascript://id.example")}, nil},
		"not one with a password":        {endpoint, map[string]http.HandlerFunc{deep: names("https://a:b@id.example")}, nil},
		"none of none":                   {endpoint, map[string]http.HandlerFunc{deep: page(`{"authorization_servers":[]}`)}, nil},
		"too many":                       {endpoint, map[string]http.HandlerFunc{deep: names(strings.Split(strings.Repeat("https://a.example ", 11), " ")[:11]...)}, nil},
		"too much":                       {endpoint, map[string]http.HandlerFunc{deep: big}, nil},
		"no JSON":                        {endpoint, map[string]http.HandlerFunc{deep: page("<html>")}, nil},
		"never":                          {endpoint, map[string]http.HandlerFunc{deep: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}, nil},
		"an open stream in place of a challenge": {endpoint, map[string]http.HandlerFunc{"/mcp": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}}, nil},
	} {
		t.Run("A-L17 servers named "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &site{pages: tt.pages}
				_, get := find(t, s, tt.endpoint)
				began := time.Now()
				m, err := get()
				if (tt.want == nil) != errors.Is(err, auth.ErrNoServers) || !cmp.Equal(m.AuthorizationServers, tt.want) {
					t.Errorf("%q, %v; want %q", m.AuthorizationServers, err, tt.want)
				}
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("it took %v", took)
				}
				if name == "at its path" && !cmp.Equal(m.Scopes, []string{"a", "e"}) {
					t.Errorf("scopes %q", m.Scopes)
				}
				asked, creds := s.log()
				for i, at := range asked {
					if !strings.HasPrefix(at, "backend.example/") || creds[i] != "" && !strings.HasSuffix(at, "/mcp") {
						t.Errorf("asked %s with %q", at, creds[i])
					}
				}
			})
		})
	}
}

// TestServersMemory: a backend is asked once in a while, whoever wants to know, and
// one caller that leaves costs the others nothing.
func TestServersMemory(t *testing.T) {
	t.Parallel()
	const deep = "/.well-known/oauth-protected-resource/mcp"
	synctest.Test(t, func(t *testing.T) {
		s := &site{pages: map[string]http.HandlerFunc{deep: func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			names("https://id.example")(w, r)
		}}}
		servers, get := find(t, s, "http://backend.example/mcp")
		left, leave := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := servers.Get(left); !errors.Is(err, gone) {
				t.Errorf("who left gets %v", err)
			}
		})
		for range 10 {
			group.Go(func() {
				if _, err := get(); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		leave(gone)
		group.Wait()
		time.Sleep(4 * time.Minute)
		if _, err := get(); err != nil || s.times() != 1 {
			t.Errorf("asked %d times, %v", s.times(), err)
		}
		s.become(nil)
		time.Sleep(time.Minute)
		for range 10 {
			if _, err := get(); !errors.Is(err, auth.ErrNoServers) {
				t.Errorf("%v", err)
			}
		}
		if s.times() != 5 {
			t.Errorf("asked %d times", s.times())
		}
		s.become(map[string]http.HandlerFunc{deep: names("https://id.example")})
		time.Sleep(30 * time.Second)
		if _, err := get(); err != nil {
			t.Errorf("%v", err)
		}
	})
}

func TestDocument(t *testing.T) {
	t.Parallel()
	got, err := auth.Metadata{AuthorizationServers: []string{"https://id.example"}, Scopes: []string{"a"}}.Document("https://bridge.example/legacy/a")
	const want = `{"resource":"https://bridge.example/legacy/a","authorization_servers":["https://id.example"],"scopes_supported":["a"],"bearer_methods_supported":["header"]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}
