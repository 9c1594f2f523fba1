package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/auth"
	"github.com/taskbridge/taskbridge/adapter/auth/authtest"
)

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// TestRotation: a new key is good as soon as it signs, a withdrawn one no longer than
// the set is fresh.
func TestRotation(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, r *rig) {
		old := r.token(map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
		r.want(old, "")
		time.Sleep(11 * time.Second)
		r.issuer.Rotate(authtest.NewKey(t, "second"))
		r.want(r.token(nil), "")
		r.want(old, "the token is signed with an unknown key")
		if n := r.issuer.Asked(); n != 2 {
			t.Errorf("the key set was fetched %d times, want 2", n)
		}
	})
	bubble(t, func(t *testing.T, r *rig) {
		far := map[string]any{"exp": time.Now().Add(time.Hour).Unix()}
		old := r.token(far)
		r.want(old, "")
		r.issuer.Rotate(authtest.NewKey(t, "second"))
		time.Sleep(10 * time.Minute)
		r.want(old, "") // and the set is fetched beside it
		synctest.Wait()
		time.Sleep(11 * time.Second)
		r.want(old, "the token is signed with an unknown key")
		r.want(r.token(far), "")
	})
}

// TestFlood: callers do not set the pace at which the issuer is asked.
func TestFlood(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, r *rig) {
		r.want(r.token(nil), "")
		for i := range 600 { // a minute of them
			r.want(authtest.Sign(t, authtest.NewKey(t, fmt.Sprint("kid", i)), claims(nil)), "the token is signed with an unknown key")
			time.Sleep(100 * time.Millisecond)
		}
		if n := r.issuer.Asked(); n < 2 || n > 7 {
			t.Errorf("the key set was fetched %d times in a minute, want one in ten seconds", n)
		}
		r.want(r.token(nil), "")
	})
}

// TestTogether: however many wait for the first key set, it is fetched once.
func TestTogether(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, r *rig) {
		token := r.token(nil)
		r.issuer.Answer(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second); panic(http.ErrAbortHandler) }) //nolint:forbidigo // cuts the answer
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() { r.want(token, unavailable) })
		}
		left, leave := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		group.Go(func() {
			if _, err := r.Verify(left, []string{"Bearer " + token}, []string{audience}); !errors.Is(err, gone) {
				t.Errorf("who left gets %v", err)
			}
		})
		synctest.Wait()
		leave(gone)
		group.Wait()
		if n := r.issuer.Asked(); n != 1 {
			t.Errorf("the key set was fetched %d times", n)
		}
	})
}

// TestUnreachable: without keys nothing is accepted; with keys those count until the
// issuer is back, and for a day at most.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"an error": status(500),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://evil.example/keys", http.StatusFound)
		},
		"not a key set": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"no keys":       func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"keys":[]}`) },
		"keys for others": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"PQ","x":1},7]}`)
		},
		"too many keys": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"keys":[`+strings.Repeat("{},", 100)+`{}]}`)
		},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"keys":[],"x":"`+strings.Repeat("x", 1<<20)+`"}`)
		},
		"nothing, for ever": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run("DESIGN Principal: "+name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, r *rig) {
				r.issuer.Answer(answer)
				began := time.Now()
				long := r.token(map[string]any{"exp": time.Now().Add(48 * time.Hour).Unix()})
				r.want(long, unavailable)
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("it took %v to find out", took)
				}
				if wait := r.RetryAfter(); wait <= 0 || wait > time.Minute {
					t.Errorf("retry after %v", wait)
				}
				r.want(long, unavailable)
				if n := r.issuer.Asked(); n != 1 {
					t.Errorf("asked %d times at once", n)
				}
				time.Sleep(time.Minute)
				r.issuer.Answer(nil)
				r.want(long, "")

				r.issuer.Answer(answer)
				time.Sleep(23 * time.Hour)
				r.want(long, "") // with the keys of yesterday
				synctest.Wait()
				time.Sleep(time.Minute)
				r.want(authtest.Sign(t, authtest.NewKey(t, "new"), claims(nil)), unavailable) // it may be a good one
				time.Sleep(time.Hour)
				r.want(long, unavailable)
				if strings.Contains(r.log.String(), long) {
					t.Error("the log has a token")
				}
			})
		})
	}
}

// TestBackoff: a dead issuer is asked less and less often, and not at all after Close.
func TestBackoff(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, r *rig) {
		r.issuer.Answer(status(503))
		token := r.token(map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix()})
		for range 3600 {
			r.want(token, unavailable)
			time.Sleep(time.Second)
		}
		if n := r.issuer.Asked(); n < 60 || n > 130 {
			t.Errorf("asked %d times in an hour", n)
		}
		r.Close()
		n := r.issuer.Asked()
		time.Sleep(time.Hour)
		r.want(token, unavailable)
		if r.issuer.Asked() != n {
			t.Error("asked after Close")
		}
	})
}

// TestCloseEndsTheFetch: nothing goes on in the background.
func TestCloseEndsTheFetch(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, r *rig) {
		r.issuer.Answer(func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
		done := make(chan error)
		token := r.token(nil)
		go func() {
			_, err := r.verify(token)
			done <- err
		}()
		synctest.Wait()
		began := time.Now()
		r.Close()
		if err := <-done; !errors.Is(err, auth.ErrUnavailable) || time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
