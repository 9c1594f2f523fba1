package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// leeway is how far the clocks of issuer and bridge may be apart.
	leeway = 30 * time.Second
	// maxToken bounds a token in bytes.
	maxToken = 16 << 10
)

// algorithms are those with a public key. A secret that verifies could also sign, and
// none signs nothing (RFC 8725 §3.1, §3.2).
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Options are what a [Verifier] works with; all members are required.
type Options struct {
	// URL is where the issuer publishes its key set.
	URL *url.URL
	// Issuer is what tokens must name as iss, exactly.
	Issuer string
	// HTTP fetches the key set. It must not follow redirects.
	HTTP   *http.Client
	Env    env.Env
	Logger *slog.Logger
}

// RefusedError says why a credential is no good. Its text is one of a few fixed ones, so
// that it can be told to anybody.
type RefusedError struct {
	// Reason completes "the token …".
	Reason string
}

func (r *RefusedError) Error() string { return "the token " + r.Reason }

// ErrUnavailable says that nothing can be verified now: the key set cannot be had.
var ErrUnavailable = errors.New("the key set of the issuer is not available")

// ErrMissing says that a request carries no bearer token.
var ErrMissing = errors.New("no bearer token")

// Identity is a caller that has been verified.
type Identity struct {
	// Issuer and Subject are the claims iss and sub; neither is empty.
	Issuer, Subject string
	// Until is when the token that was verified is good no longer.
	Until time.Time
}

// Principal names the identity: equal names are the same issuer and subject, whatever
// token said so. It has a fixed length and can be no other kind of principal's name.
func (id Identity) Principal() string {
	// The length ahead of the issuer keeps "a"+"bc" and "ab"+"c" apart.
	name := binary.BigEndian.AppendUint64(nil, uint64(len(id.Issuer)))
	sum := sha256.Sum256(append(append(name, id.Issuer...), id.Subject...))
	return "subject:" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// Verifier verifies the tokens of one issuer. It is safe for concurrent use.
type Verifier struct {
	o    Options
	keys *keySet
}

// New returns a verifier. It fetches the key set when it is first needed, so an
// issuer that is down does not keep the bridge from starting. Close must be called.
func New(o Options) *Verifier { return &Verifier{o: o, keys: newKeySet(o)} }

// Close ends what the verifier does in the background.
func (v *Verifier) Close() { v.keys.close() }

// RetryAfter is how long it takes until an unavailable key set is asked for again.
func (v *Verifier) RetryAfter() time.Duration { return v.keys.retryAfter() }

// Verify says who sends these Authorization headers to a resource that goes by any of
// the audiences. The error is [ErrMissing], a *[RefusedError], [ErrUnavailable], or the
// cause of ctx.
func (v *Verifier) Verify(ctx context.Context, authorization []string, audiences []string) (Identity, error) {
	raw, err := bearer(authorization)
	if err != nil {
		return Identity{}, err
	}
	token, err := jwt.ParseSigned(raw, algorithms)
	if err != nil {
		return Identity{}, &RefusedError{"is no JWT with an accepted signature algorithm"}
	}
	header := token.Headers[0]
	keys, err := v.keys.find(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return Identity{}, err
	}
	var claims jwt.Claims
	for i := range keys {
		if err = token.Claims(keys[i].Key, &claims); err == nil {
			break
		}
	}
	if err != nil {
		return Identity{}, &RefusedError{"has a bad signature or malformed claims"}
	}
	return v.judge(claims, audiences)
}

// judge checks the claims of a token with a good signature.
func (v *Verifier) judge(claims jwt.Claims, audiences []string) (Identity, error) {
	switch {
	case claims.Expiry == nil:
		return Identity{}, &RefusedError{"never expires"}
	case claims.Subject == "":
		return Identity{}, &RefusedError{"names no subject"}
	case v.o.Issuer == "", len(audiences) == 0: // to which the library says yes
		return Identity{}, &RefusedError{"is for nobody"}
	}
	err := claims.ValidateWithLeeway(jwt.Expected{
		Issuer: v.o.Issuer, AnyAudience: audiences, Time: v.o.Env.Now(),
	}, leeway)
	switch {
	case err == nil:
		return Identity{Issuer: claims.Issuer, Subject: claims.Subject, Until: claims.Expiry.Time().Add(leeway)}, nil
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return Identity{}, &RefusedError{"is of another issuer"}
	case errors.Is(err, jwt.ErrInvalidAudience):
		return Identity{}, &RefusedError{"is for another audience"}
	case errors.Is(err, jwt.ErrExpired):
		return Identity{}, &RefusedError{"has expired"}
	default:
		return Identity{}, &RefusedError{"is not valid yet"}
	}
}

// bearer returns the token of a request. Two credentials are none: nobody could say
// which one counts.
func bearer(authorization []string) (string, error) {
	if len(authorization) == 0 {
		return "", ErrMissing
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	token = strings.Trim(token, " ")
	switch {
	case len(authorization) > 1:
		return "", &RefusedError{"is not the only credential"}
	case !strings.EqualFold(scheme, "Bearer"), token == "":
		return "", ErrMissing
	case len(token) > maxToken:
		return "", &RefusedError{"is too long"}
	}
	return token, nil
}
