package auth

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// fetchTimeout bounds one attempt to get the key set.
	fetchTimeout = 5 * time.Second
	// freshFor is how long a key set is used without asking for a newer one: a key
	// that was withdrawn is refused after that time at the latest, if the issuer can
	// be reached.
	freshFor = 10 * time.Minute
	// staleFor is how long it is used while the issuer cannot be reached.
	staleFor = 24 * time.Hour
	// pause lies between two fetches, however many keys are asked for that are not
	// in the set.
	pause = 10 * time.Second
	// leastBackoff and mostBackoff bound the time from a failed attempt to the next.
	leastBackoff = time.Second
	mostBackoff  = time.Minute
	// maxSet is the size of a key set in bytes, maxKeys the number of its keys.
	maxSet  = 1 << 20
	maxKeys = 100
	// maxTries is how many keys a token may fit that does not say which one it is.
	maxTries = 10
	// minModulus and maxModulus bound RSA keys in bits: RFC 7518 §3.3 wants the
	// least, and the time that a signature takes wants the other.
	minModulus, maxModulus = 2048, 8192
)

var (
	errClosed = errors.New("closed")
	errSlow   = errors.New("the issuer did not answer in time")
)

// A keySet is the issuer's key set as it was last seen.
type keySet struct {
	o      Options
	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	fetched  time.Time     // zero: never
	next     time.Time     // no attempt before
	failures int           // attempts that have failed since the last good one
	running  chan struct{} // closed at the end of the attempt that is under way
}

func newKeySet(o Options) *keySet {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &keySet{o: o, ctx: ctx, cancel: cancel}
}

func (s *keySet) close() {
	s.mu.Lock()
	s.cancel(errClosed)
	s.mu.Unlock()
	s.work.Wait()
}

// retryAfter is the time until the next attempt may begin.
func (s *keySet) retryAfter() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.next.Sub(s.o.Env.Now()))
}

// find returns the keys that a token may be signed with; at least one. A key that is
// not in the set may be a new one: the set is fetched again, but not at the pace of
// those who ask. Keys that are due for a newer set are used meanwhile.
func (s *keySet) find(ctx context.Context, kid, alg string) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	found, usable := s.fitting(kid, alg), s.usable()
	if usable && len(found) > 0 {
		if s.o.Env.Now().Sub(s.fetched) >= freshFor {
			s.refresh() //nolint:contextcheck // an attempt is for all who wait, and for those to come
		}
		s.mu.Unlock()
		return found, nil
	}
	attempt := s.refresh() //nolint:contextcheck // as above
	s.mu.Unlock()
	if attempt != nil {
		select {
		case <-attempt:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch found = s.fitting(kid, alg); {
	case !s.usable():
		return nil, ErrUnavailable
	case len(found) > 0:
		return found, nil
	case s.failures > 0:
		return nil, ErrUnavailable // the key may be one of a set that was not seen
	default:
		return nil, &RefusedError{"is signed with an unknown key"}
	}
}

// usable reports whether there is a set that is not too old. The lock is held.
func (s *keySet) usable() bool {
	return !s.fetched.IsZero() && s.o.Env.Now().Sub(s.fetched) < staleFor
}

// fitting returns the keys that the header of a token fits. The lock is held.
func (s *keySet) fitting(kid, alg string) (out []jose.JSONWebKey) {
	for i := range s.keys {
		k := &s.keys[i]
		if kid != "" && k.KeyID != kid || !signs(k, alg) {
			continue
		}
		if out = append(out, *k); len(out) == maxTries {
			break
		}
	}
	return out
}

// signs reports whether a key is for signatures of an algorithm. A key of one kind is
// never used with the algorithm of another (RFC 8725 §3.1).
func signs(k *jose.JSONWebKey, alg string) bool {
	if k.Algorithm != "" && k.Algorithm != alg {
		return false
	}
	switch k.Key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(alg, "ES")
	case ed25519.PublicKey:
		return alg == string(jose.EdDSA)
	default:
		return false
	}
}

// refresh begins an attempt to get the set, unless it is too early for one. It
// returns the end of the attempt that is under way, or nil. The lock is held.
func (s *keySet) refresh() <-chan struct{} {
	if s.running != nil {
		return s.running
	}
	if s.ctx.Err() != nil || s.o.Env.Now().Before(s.next) {
		return nil
	}
	done := make(chan struct{})
	s.running = done
	s.work.Go(func() {
		defer close(done)
		keys, err := s.fetch()
		s.settle(keys, err)
	})
	return done
}

// settle takes the outcome of an attempt. After a bad one the old set stays.
func (s *keySet) settle(keys []jose.JSONWebKey, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
	now := s.o.Env.Now()
	if err != nil {
		wait := min(mostBackoff, leastBackoff<<min(s.failures, 6))
		s.failures++
		s.next = now.Add(env.Jitter(s.o.Env, wait, 0.5, 1))
		if s.ctx.Err() == nil {
			s.o.Logger.WarnContext(s.ctx, "key set not available", "error", err, "failures", s.failures)
		}
		return
	}
	s.keys, s.fetched, s.failures, s.next = keys, now, 0, now.Add(pause)
}

// fetch gets the set.
func (s *keySet) fetch() ([]jose.JSONWebKey, error) {
	ctx, cancel := env.WithTimeout(s.ctx, s.o.Env, fetchTimeout, errSlow)
	defer cancel()
	body, err := get(ctx, s.o.HTTP, s.o.URL.String(), maxSet)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	return parseKeys(body)
}

// parseKeys reads the keys that can be used. Others are passed over, since a set may
// have keys for other ends and of kinds to come (RFC 7517 §5).
func parseKeys(body []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("the answer is no key set")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("the set has more than %d keys", maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) == nil && verifies(&k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the set has no key that verifies signatures")
	}
	return keys, nil
}

// verifies reports whether a key may verify signatures.
func verifies(k *jose.JSONWebKey) bool {
	if !k.Valid() || k.Use != "" && k.Use != "sig" {
		return false
	}
	if key, ok := k.Key.(*rsa.PublicKey); ok {
		bits := key.N.BitLen()
		return bits >= minModulus && bits <= maxModulus
	}
	switch k.Key.(type) {
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	default:
		return false // symmetric, or private
	}
}

// get fetches a document of at most limit bytes.
func get(ctx context.Context, client *http.Client, from string, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // what it adds is the URL, which may carry a secret
		}
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // of a body that was read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(http.MaxBytesReader(nil, resp.Body, limit)); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}
