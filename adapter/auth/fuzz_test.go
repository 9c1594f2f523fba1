package auth_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/auth"
	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// FuzzVerify holds that no header crashes the verifier, that nothing is accepted but
// what the issuer has signed, and that a refusal fits into a header and quotes nothing.
func FuzzVerify(f *testing.F) {
	issuer := authtest.New(f, issuerName)
	good := issuer.Token(f, claims(nil))
	parts := strings.Split(good, ".")
	for _, seed := range []string{
		"Bearer " + good, "bearer  " + good, good, "Bearer " + good + "=", "Bearer " + parts[0] + "." + parts[1] + ".", "Bearer ..", "Bearer " + good + "." + good,
		"Bearer " + forge(`{"alg":"ES256","kid":"first"}`, `{"exp":1e308,"sub":[]}`, "x"), "Bearer " + forge(`{"alg":"none"}`, "{}", ""), "Bearer e30.e30.e30", "",
	} {
		f.Add(seed)
	}
	client := transport.NewHTTPClient(nil)
	l := memnet.Listen()
	l.Attach(client)
	stop := serveOn(l, issuer)
	f.Cleanup(stop)
	v := auth.New(auth.Options{URL: keysURL, Issuer: issuerName, HTTP: client, Env: env.System(), Logger: slog.New(slog.DiscardHandler)})
	f.Cleanup(v.Close)
	f.Fuzz(func(t *testing.T, header string) {
		id, err := v.Verify(t.Context(), []string{header}, []string{audience})
		var refused *auth.RefusedError
		switch {
		case err == nil:
			// One signature can be written in more than one way.
			id.Until = time.Time{}
			if want := (auth.Identity{Issuer: issuerName, Subject: "alice"}); id != want {
				t.Fatalf("accepted %q as %+v", header, id)
			}
		case errors.As(err, &refused):
			if strings.ContainsAny(refused.Error(), "\"\\\r\n") || len(refused.Error()) > 100 {
				t.Fatalf("refusal %q", refused)
			}
		case !errors.Is(err, auth.ErrMissing):
			t.Fatalf("%q: %v", header, err)
		}
	})
}
