package legacy_test

import (
	"bytes"
	"crypto/rand"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
	"github.com/taskbridge/taskbridge/adapter/seal"
)

// rotated is another process with the same store and other secrets, current first.
func (r *rig) rotated(secrets ...string) *rig {
	r.t.Helper()
	raw := make([][]byte, len(secrets))
	for i, secret := range secrets {
		raw[i] = bytes.Repeat([]byte(secret), seal.SecretSize)
	}
	keys, err := seal.New(raw, rand.Reader)
	if err != nil {
		r.t.Fatal(err)
	}
	return newRig(r.t, func(o *legacy.Options) { o.Store, o.Keys = r.store, keys })
}

// TestSessionsSurviveARotation: a session that is used lives on however often secrets
// are rotated, and stays its owner's (A-L10). One that is not used while its secret is
// accepted is lost with it.
func TestSessionsSurviveARotation(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		for _, credential := range []string{"", "Bearer a"} {
			var header []string
			if credential != "" {
				header = []string{"Authorization: " + credential}
			}
			first := r.rotated("1")
			id := first.open(header...)
			for _, secrets := range [][]string{{"1", "2"}, {"2", "1"}, {"2", "3"}, {"3", "2"}} {
				next := r.rotated(secrets...)
				if a := next.post(id, call("1", "tools/list"), header...); a.status != http.StatusOK {
					t.Errorf("%q, %q: %d %s", credential, secrets, a.status, a.body)
				}
				if got := next.crossing.last().Caller.Principal; credential != "" && got != first.crossing.last().Caller.Principal {
					t.Errorf("%q: acts as %q", secrets, got)
				}
				if credential != "" {
					wantError(t, next.post(id, call("1", "tools/list"), "Authorization: Bearer b"), http.StatusNotFound, unknownSession)
					wantError(t, next.post(id, call("1", "tools/list")), http.StatusNotFound, unknownSession)
				}
				// Long enough for the next request to write that it was seen.
				time.Sleep(idle / 3)
				if a := next.post(id, call("1", "ping"), header...); a.status != http.StatusOK {
					t.Errorf("%q, %q: ping: %d %s", credential, secrets, a.status, a.body)
				}
			}
			if a := r.rotated("3").post(id, call("1", "tools/list"), header...); a.status != http.StatusOK {
				t.Errorf("%q: at the end: %d %s", credential, a.status, a.body)
			}
		}
		unused := r.rotated("3").open("Authorization: Bearer a")
		wantError(t, r.rotated("4").post(unused, call("1", "tools/list"), "Authorization: Bearer a"), http.StatusNotFound, unknownSession)
	})
}

// TestAnOpenStreamSurvivesARotation: so does a session whose client only listens.
func TestAnOpenStreamSurvivesARotation(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		const credential = "Authorization: Bearer a"
		id := r.rotated("1").open(credential)
		both := r.rotated("2", "1")
		get := both.stream(http.MethodGet, id, "", credential)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(io.Discard, get.resp.Body)
		}()
		time.Sleep(idle)
		if a := r.rotated("2").post(id, call("1", "tools/list"), credential); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
		get.hangUp()
		<-done
	})
}
