package adapter_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
)

// verifying has the bridge verify its callers, with the keys of a [keyed].
var verifying = []string{"auth.jwks_url=http://127.0.0.1/keys", "auth.issuer=" + issuing, "auth.audience=bridge"}

const issuing = "https://id.example"

// keyed is a backend with an issuer of tokens beside it.
type keyed struct {
	http.Handler

	t      *testing.T
	issuer *authtest.Issuer
	status atomic.Int64 // of what the backend answers; 0 lets everybody in
	asked  atomic.Int64 // requests to the backend
	minted atomic.Int64
}

func newKeyed(t *testing.T, server http.Handler) *keyed {
	t.Helper()
	k := &keyed{Handler: server, t: t, issuer: authtest.New(t, issuing)}
	k.issuer.Rotate(authtest.NewEdKey(t, "first")) // which is verified faster
	return k
}

func (k *keyed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/keys" {
		k.issuer.ServeHTTP(w, r)
		return
	}
	k.asked.Add(1)
	if status := k.status.Load(); status != 0 {
		w.WriteHeader(int(status))
		return
	}
	k.Handler.ServeHTTP(w, r)
}

func (k *keyed) Close() { closeServer(k.Handler) }

// token is a header with a new token of a subject, which is no other token's.
func (k *keyed) token(subject string) string { return k.tokenOf(issuing, subject, 24*time.Hour) }

func (k *keyed) tokenOf(issuer, subject string, lives time.Duration) string {
	k.t.Helper()
	return "Bearer " + k.issuer.Token(k.t, map[string]any{
		"iss": issuer, "sub": subject, "aud": "bridge", "exp": time.Now().Add(lives).Unix(), "jti": fmt.Sprint(k.minted.Add(1)),
	})
}
