package auth_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/taskbridge/taskbridge/adapter/auth"
	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		but  func(now int64) map[string]any
		want string
	}{
		"good":                                   {func(int64) map[string]any { return nil }, ""},
		"of another issuer":                      {func(int64) map[string]any { return map[string]any{"iss": "https://evil.example"} }, "the token is of another issuer"},
		"of an issuer that begins alike":         {func(int64) map[string]any { return map[string]any{"iss": issuerName + "/"} }, "the token is of another issuer"},
		"of nobody":                              {func(int64) map[string]any { return map[string]any{"iss": nil} }, "the token is of another issuer"},
		"of an issuer in another form":           {func(int64) map[string]any { return map[string]any{"iss": []string{issuerName}} }, "the token has a bad signature or malformed claims"},
		"for another audience":                   {func(int64) map[string]any { return map[string]any{"aud": "https://bridge.example/legacy/b"} }, "the token is for another audience"},
		"for several":                            {func(int64) map[string]any { return map[string]any{"aud": []string{"x", audience}} }, ""},
		"for no audience":                        {func(int64) map[string]any { return map[string]any{"aud": nil} }, "the token is for another audience"},
		"for an empty list":                      {func(int64) map[string]any { return map[string]any{"aud": []string{}} }, "the token is for another audience"},
		"for a number":                           {func(int64) map[string]any { return map[string]any{"aud": 7} }, "the token has a bad signature or malformed claims"},
		"without a subject":                      {func(int64) map[string]any { return map[string]any{"sub": nil} }, "the token names no subject"},
		"with an empty subject":                  {func(int64) map[string]any { return map[string]any{"sub": ""} }, "the token names no subject"},
		"with a number for a subject":            {func(int64) map[string]any { return map[string]any{"sub": 7} }, "the token has a bad signature or malformed claims"},
		"without an end":                         {func(int64) map[string]any { return map[string]any{"exp": nil} }, "the token never expires"},
		"expired, as clocks differ":              {func(now int64) map[string]any { return map[string]any{"exp": now - 29} }, ""},
		"expired":                                {func(now int64) map[string]any { return map[string]any{"exp": now - 31} }, "the token has expired"},
		"with an end beyond all time":            {func(int64) map[string]any { return map[string]any{"exp": 1e300} }, "the token has a bad signature or malformed claims"},
		"early, as clocks differ":                {func(now int64) map[string]any { return map[string]any{"nbf": now + 29, "iat": now + 29} }, ""},
		"early":                                  {func(now int64) map[string]any { return map[string]any{"nbf": now + 31} }, "the token is not valid yet"},
		"of tomorrow":                            {func(now int64) map[string]any { return map[string]any{"iat": now + 86400} }, "the token is not valid yet"},
		"without the times that may be left out": {func(int64) map[string]any { return map[string]any{"nbf": nil, "iat": nil} }, ""},
	} {
		t.Run("DESIGN Principal: a token "+name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(_ *testing.T, r *rig) { r.want(r.token(tt.but(time.Now().Unix())), tt.want) })
		})
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, r *rig) {
		token := r.token(nil)
		for name, tt := range map[string]struct {
			header []string
			want   string
		}{
			"none":                    {nil, auth.ErrMissing.Error()},
			"an empty one":            {[]string{""}, auth.ErrMissing.Error()},
			"a scheme alone":          {[]string{"Bearer "}, auth.ErrMissing.Error()},
			"another scheme":          {[]string{"Basic " + token}, auth.ErrMissing.Error()},
			"no scheme":               {[]string{token}, auth.ErrMissing.Error()},
			"a scheme in lower case":  {[]string{"bearer " + token}, ""},
			"more than one space":     {[]string{"Bearer   " + token}, ""},
			"the same token twice":    {[]string{"Bearer " + token, "Bearer " + token}, "the token is not the only credential"},
			"two tokens in one field": {[]string{"Bearer " + token + ", Bearer " + token}, "the token is no JWT with an accepted signature algorithm"},
			"a token that is none":    {[]string{"Bearer opaque"}, "the token is no JWT with an accepted signature algorithm"},
			"one with five parts":     {[]string{"Bearer " + token + "..x"}, "the token is no JWT with an accepted signature algorithm"},
			"a document":              {[]string{`Bearer {"payload":"","signatures":[]}`}, "the token is no JWT with an accepted signature algorithm"},
			"one that is too long":    {[]string{"Bearer " + strings.Repeat("x", 16<<10+1)}, "the token is too long"},
		} {
			_, err := r.Verify(t.Context(), tt.header, []string{audience})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
		}
		if _, err := r.Verify(t.Context(), []string{"Bearer " + token}, nil); err == nil {
			t.Error("a token is for nobody where there is no audience, and was taken")
		}
	})
}

// forge puts a token together by hand.
func forge(header, payload, signature string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(header)) + "." + enc([]byte(payload)) + "." + enc([]byte(signature))
}

// TestForgery: who has no private key of the set makes no token (RFC 8725).
func TestForgery(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, r *rig) {
		const noJWT, bad = "the token is no JWT with an accepted signature algorithm", "the token has a bad signature or malformed claims"
		good := r.token(nil)
		r.want(good, "")
		parts := strings.Split(good, ".")
		payload, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		public, err := x509.MarshalPKIXPublicKey(authtestPublic(t, r))
		if err != nil {
			t.Fatal(err)
		}
		hs := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"first"}`)) + "." + parts[1]
		mac := hmac.New(sha256.New, public)
		mac.Write([]byte(hs))

		foreign := authtest.NewKey(t, "first")
		embedded, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: foreign.Private}, &jose.SignerOptions{EmbedJWK: true})
		if err != nil {
			t.Fatal(err)
		}
		signed, err := embedded.Sign(payload)
		if err != nil {
			t.Fatal(err)
		}
		withKey, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		ed := authtest.NewEdKey(t, "first")
		for name, tt := range map[string]struct{ token, want string }{
			"alg none":                            {forge(`{"alg":"none"}`, string(payload), ""), noJWT},
			"alg none in another case":            {forge(`{"alg":"NonE"}`, string(payload), ""), noJWT},
			"no alg":                              {forge(`{"typ":"JWT"}`, string(payload), "x"), noJWT},
			"HS256 with the public key":           {hs + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), noJWT},
			"no signature":                        {parts[0] + "." + parts[1] + ".", bad},
			"another payload":                     {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(payload), "alice", "mallory", 1))) + "." + parts[2], bad},
			"a foreign key of the same name":      {authtest.Sign(t, foreign, claims(nil)), bad},
			"a key that the token brings along":   {withKey, bad},
			"a key of another kind":               {authtest.Sign(t, ed, claims(nil)), "the token is signed with an unknown key"},
			"an unknown extension that must hold": {forge(`{"alg":"ES256","kid":"first","crit":["x"],"x":1}`, string(payload), "x"), bad},
		} {
			if id, err := r.verify(tt.token); err == nil || err.Error() != tt.want {
				t.Errorf("%s: %+v, %v; want %q", name, id, err, tt.want)
			}
		}
	})
}

func authtestPublic(t *testing.T, r *rig) any {
	t.Helper()
	key := authtest.NewKey(t, "first")
	r.issuer.Rotate(key)
	return key.Public().Key
}

// TestAlgorithms: each kind of public key verifies.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		key  authtest.Key
		want string
	}{
		"EdDSA":              {authtest.NewEdKey(t, "k"), ""},
		"EdDSA, no kid":      {authtest.NewEdKey(t, ""), ""},
		"RS256":              {authtest.Key{ID: "k", Algorithm: jose.RS256, Private: strong}, ""},
		"PS512":              {authtest.Key{ID: "k", Algorithm: jose.PS512, Private: strong}, ""},
		"RS256, weak":        {authtest.Key{ID: "k", Algorithm: jose.RS256, Private: weak}, "the token is signed with an unknown key"},
		"ES256, no kid":      {authtest.NewKey(t, ""), ""},
		"ES256, another kid": {authtest.NewKey(t, "l"), ""},
	} {
		t.Run("DESIGN Principal: "+name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, r *rig) {
				r.issuer.Rotate(tt.key, authtest.NewKey(t, "other"), authtest.NewEdKey(t, "another"))
				r.want(r.token(nil), tt.want)
			})
		})
	}
}

// TestPrincipal: equal names are equal identities, and a refreshed token is the same.
func TestPrincipal(t *testing.T) {
	t.Parallel()
	seen := map[string]auth.Identity{}
	for _, id := range []auth.Identity{
		{Issuer: "a", Subject: "bc"},
		{Issuer: "ab", Subject: "c"},
		{Issuer: "abc"},
		{Subject: "abc"},
		{Issuer: "a\x00", Subject: "bc"},
		{Issuer: "a", Subject: "\x00bc"},
		{Issuer: "A", Subject: "bc"},
		{Issuer: "a", Subject: strings.Repeat("x", 1<<16)},
	} {
		name := id.Principal()
		if other, ok := seen[name]; ok {
			t.Errorf("%+v and %+v are both %s", id, other, name)
		}
		seen[name] = id
		if len(name) > 64 || !strings.HasPrefix(name, "subject:") || strings.Contains(name, "bc") && id.Subject == "bc" && len(name) < 20 {
			t.Errorf("name %q", name)
		}
	}
	bubble(t, func(t *testing.T, r *rig) {
		a, err := r.verify(r.token(map[string]any{"jti": "1"}))
		b, err2 := r.verify(r.token(map[string]any{"jti": "2", "exp": time.Now().Add(time.Hour).Unix()}))
		if err = errors.Join(err, err2); err != nil || a.Principal() != b.Principal() {
			t.Errorf("a refreshed token is another principal: %v", err)
		}
	})
}
