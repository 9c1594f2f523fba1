package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/flight"
)

// WellKnown is where the metadata of a protected resource is found, ahead of the path
// of the resource (RFC 9728 §3.1).
const WellKnown = "/.well-known/oauth-protected-resource"

// wellKnownServer is where that of an authorization server is (RFC 8414 §3).
const wellKnownServer = "/.well-known/oauth-authorization-server"

const (
	// knownFor and unknownFor are how long it is remembered that a backend names its
	// authorization servers, or that it does not.
	knownFor   = 5 * time.Minute
	unknownFor = 30 * time.Second
	// maxMetadata is the size of a metadata document in bytes, maxServers and
	// maxScopes what it may list.
	maxMetadata           = 64 << 10
	maxServers, maxScopes = 10, 200
)

// ErrNoServers says that a backend does not tell where to log in.
var ErrNoServers = errors.New("the backend names no authorization server")

// Metadata is what a backend says of itself as a protected resource.
type Metadata struct {
	// AuthorizationServers are issuers, URLs; at least one.
	AuthorizationServers []string
	// Scopes are those that tokens may have; empty where the backend does not say.
	Scopes []string
}

// ServersOptions are what [Servers] works with; all members are required.
type ServersOptions struct {
	// URL is the backend's endpoint.
	URL *url.URL
	// HTTP reaches the backend. It must not follow redirects nor add a credential.
	HTTP *http.Client
	Env  env.Env
	// Timeout bounds all that is asked of the backend together.
	Timeout time.Duration
}

// Servers finds out which authorization servers a backend trusts. Nothing is asked
// but the backend's own host, whatever it answers. It is safe for concurrent use.
type Servers struct {
	o      ServersOptions
	flight flight.Group[struct{}, Metadata]

	mu    sync.Mutex
	known Metadata
	err   error // ErrNoServers or nil
	until time.Time
}

// NewServers returns servers that nothing is known of yet. Nothing is sent.
func NewServers(o ServersOptions) *Servers { return &Servers{o: o} }

// Get returns the metadata of the backend, as it was at most five minutes ago. The
// error is [ErrNoServers] or the cause of ctx.
func (s *Servers) Get(ctx context.Context) (Metadata, error) {
	s.mu.Lock()
	known, err, until := s.known, s.err, s.until
	s.mu.Unlock()
	if s.o.Env.Now().Before(until) {
		return known, err
	}
	return s.flight.Do(ctx, struct{}{}, s.discover)
}

func (s *Servers) discover(ctx context.Context) (Metadata, error) {
	within, cancel := env.WithTimeout(ctx, s.o.Env, s.o.Timeout, errSlow)
	defer cancel()
	found, ok := s.ask(within)
	if ctx.Err() != nil { // nobody waits, and nothing has been learnt
		return Metadata{}, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.err, s.until = found, nil, s.o.Env.Now().Add(knownFor)
	if !ok {
		s.known, s.err, s.until = Metadata{}, ErrNoServers, s.o.Env.Now().Add(unknownFor)
	}
	return s.known, s.err
}

// ask looks where a client would: at the places that RFC 9728 names, then where a
// challenge points to, and at last, as servers of 2025-03-26 want it, at the host of
// the backend, which is its own authorization server then.
func (s *Servers) ask(ctx context.Context) (Metadata, bool) {
	path := strings.TrimRight(s.o.URL.EscapedPath(), "/")
	if found, ok := s.resource(ctx, s.at(WellKnown+path)); ok {
		return found, true
	}
	if path != "" {
		if found, ok := s.resource(ctx, s.at(WellKnown)); ok {
			return found, true
		}
	}
	if place := s.challenged(ctx); place != "" {
		if found, ok := s.resource(ctx, place); ok {
			return found, true
		}
	}
	var server struct {
		Issuer string `json:"issuer"`
	}
	body, err := get(ctx, s.o.HTTP, s.at(wellKnownServer), maxMetadata)
	if err != nil || json.Unmarshal(body, &server) != nil || !isServer(server.Issuer) {
		return Metadata{}, false
	}
	return Metadata{AuthorizationServers: []string{server.Issuer}}, true
}

// at is a place at the backend's host. What a path cannot say is left out: a query
// that the endpoint has may be a secret.
func (s *Servers) at(path string) string { return s.o.URL.Scheme + "://" + s.o.URL.Host + path }

// resource reads the metadata of a protected resource.
func (s *Servers) resource(ctx context.Context, from string) (Metadata, bool) {
	body, err := get(ctx, s.o.HTTP, from, maxMetadata)
	if err != nil {
		return Metadata{}, false
	}
	var doc struct {
		Servers []string `json:"authorization_servers"`
		Scopes  []string `json:"scopes_supported"`
	}
	if json.Unmarshal(body, &doc) != nil || len(doc.Servers) == 0 || len(doc.Servers) > maxServers {
		return Metadata{}, false
	}
	for _, server := range doc.Servers {
		if !isServer(server) {
			return Metadata{}, false
		}
	}
	found := Metadata{AuthorizationServers: doc.Servers}
	if len(doc.Scopes) <= maxScopes {
		for _, scope := range doc.Scopes {
			if scopeToken.MatchString(scope) {
				found.Scopes = append(found.Scopes, scope)
			}
		}
	}
	return found, true
}

var (
	scopeToken = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]{1,256}$`)
	// metadataParam is where a challenge says that metadata is (RFC 9728 §5.1).
	metadataParam = regexp.MustCompile(`(?i)(?:^|[\s,])resource_metadata\s*=\s*"([^"]+)"`)
)

// challenged asks the backend without a credential, and returns where it says that its
// metadata is, if that is at its own host.
func (s *Servers) challenged(ctx context.Context) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.o.URL.String(), http.NoBody)
	if err != nil {
		return ""
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := s.o.HTTP.Do(req)
	if err != nil {
		return ""
	}
	_ = resp.Body.Close() // it may be a stream without an end
	if resp.StatusCode != http.StatusUnauthorized {
		return ""
	}
	for _, challenge := range resp.Header.Values("WWW-Authenticate") {
		found := metadataParam.FindStringSubmatch(challenge)
		if found == nil {
			continue
		}
		u, err := url.Parse(found[1])
		if err == nil && u.User == nil && u.Scheme == s.o.URL.Scheme && strings.EqualFold(u.Host, s.o.URL.Host) {
			return u.String()
		}
	}
	return ""
}

// isServer reports whether clients may be sent to an issuer: over TLS, but for one on
// the same machine.
func isServer(issuer string) bool {
	u, err := url.Parse(issuer)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// Document renders the metadata of a protected resource of the bridge.
func (m Metadata) Document(resource string) ([]byte, error) {
	out, err := json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}{resource, m.AuthorizationServers, m.Scopes, []string{"header"}})
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return out, nil
}
