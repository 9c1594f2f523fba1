package auth_test

import (
	"bytes"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/auth"
	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

const (
	issuerName = "https://id.example"
	audience   = "https://bridge.example/legacy/a"
)

var keysURL = &url.URL{Scheme: "http", Host: "id.example", Path: "/keys"}

// serve runs a handler on a network of its own and returns a client that reaches it
// and nothing else.
func serve(t *testing.T, h http.Handler) *http.Client {
	t.Helper()
	client, l := transport.NewHTTPClient(nil), memnet.Listen()
	l.Attach(client)
	stop := serveOn(l, h)
	t.Cleanup(func() {
		client.CloseIdleConnections()
		stop()
	})
	return client
}

// serveOn serves on a listener until it is stopped.
func serveOn(l *memnet.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	return func() {
		_ = server.Close()
		<-done
	}
}

// rig is a verifier and its issuer, in fake time.
type rig struct {
	*auth.Verifier

	t      *testing.T
	issuer *authtest.Issuer
	log    bytes.Buffer
}

func bubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, issuer: authtest.New(t, issuerName)}
		r.Verifier = auth.New(auth.Options{
			URL: keysURL, Issuer: issuerName, HTTP: serve(t, r.issuer), Env: env.System(),
			Logger: slog.New(slog.NewTextHandler(&r.log, nil)),
		})
		t.Cleanup(r.Close)
		test(t, r)
	})
}

// claims are good ones, but for those that are given; nil takes one away.
func claims(but map[string]any) map[string]any {
	now := time.Now().Unix()
	out := map[string]any{"iss": issuerName, "sub": "alice", "aud": audience, "exp": now + 300, "iat": now, "nbf": now}
	maps.Copy(out, but)
	maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
	return out
}

func (r *rig) token(but map[string]any) string { return r.issuer.Token(r.t, claims(but)) }

func (r *rig) verify(token string) (auth.Identity, error) {
	return r.Verify(r.t.Context(), []string{"Bearer " + token}, []string{"other", audience})
}

// want verifies a token: reason is that of its refusal, or empty.
func (r *rig) want(token, reason string) {
	r.t.Helper()
	id, err := r.verify(token)
	if good := id.Until.After(time.Now()); good != (err == nil) {
		r.t.Errorf("good until %v, %v", id.Until, err)
	}
	id.Until = time.Time{}
	switch {
	case reason == "" && (err != nil || id != auth.Identity{Issuer: issuerName, Subject: "alice"}):
		r.t.Errorf("%+v, %v; want alice", id, err)
	case reason != "" && (err == nil || err.Error() != reason || id != auth.Identity{}):
		r.t.Errorf("%+v, %v; want %q", id, err, reason)
	}
}

// unavailable is what is said while there are no keys.
var unavailable = auth.ErrUnavailable.Error()
