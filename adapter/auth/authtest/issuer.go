package authtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/taskbridge/taskbridge/internal/env"
)

// Issuer is an issuer with one key that signs. It serves its key set, whatever the
// path.
type Issuer struct {
	// Name is what its tokens name as iss.
	Name string

	mu     sync.Mutex
	keys   []jose.JSONWebKey // published, the public halves
	key    Key               // signs
	answer http.HandlerFunc  // in place of the key set, unless nil
	asked  int
}

// Key is a private key and what tokens say of it.
type Key struct {
	// ID is the kid; empty is none. Algorithm is the alg.
	ID        string
	Algorithm jose.SignatureAlgorithm
	Private   any
}

// New returns an issuer with an ES256 key called "first".
func New(t testing.TB, name string) *Issuer {
	t.Helper()
	i := &Issuer{Name: name}
	i.Rotate(NewKey(t, "first"))
	return i
}

// NewKey makes an ES256 key.
func NewKey(t testing.TB, id string) Key {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), env.System().Random())
	if err != nil {
		t.Fatal(err)
	}
	return Key{ID: id, Algorithm: jose.ES256, Private: key}
}

// NewEdKey makes an EdDSA key.
func NewEdKey(t testing.TB, id string) Key {
	t.Helper()
	_, key, err := ed25519.GenerateKey(env.System().Random())
	if err != nil {
		t.Fatal(err)
	}
	return Key{ID: id, Algorithm: jose.EdDSA, Private: key}
}

// Public is the published half of a key.
func (k Key) Public() jose.JSONWebKey {
	out := jose.JSONWebKey{Key: k.Private, KeyID: k.ID}
	if signer, ok := k.Private.(crypto.Signer); ok {
		out.Key = signer.Public()
	}
	return out
}

// Rotate publishes these keys and no others; the first one signs from now on.
func (i *Issuer) Rotate(keys ...Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key, i.keys = keys[0], nil
	for _, k := range keys {
		i.keys = append(i.keys, k.Public())
	}
}

// Answer makes the issuer answer so in place of its key set; nil ends it.
func (i *Issuer) Answer(with http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = with
}

// Asked is how often the key set was asked for.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// ServeHTTP implements [http.Handler].
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.asked++
	answer, set := i.answer, jose.JSONWebKeySet{Keys: i.keys}
	i.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(set) // a client that left
}

// Token signs these claims with the key that signs now.
func (i *Issuer) Token(t testing.TB, claims map[string]any) string {
	t.Helper()
	i.mu.Lock()
	key := i.key
	i.mu.Unlock()
	return Sign(t, key, claims)
}

// Sign signs claims with any key.
func Sign(t testing.TB, key Key, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: key.Algorithm, Key: jose.JSONWebKey{Key: key.Private, KeyID: key.ID}},
		(&jose.SignerOptions{}).WithType("at+jwt"),
	)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}
