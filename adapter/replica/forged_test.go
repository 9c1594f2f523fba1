package replica_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/replica"
	"github.com/taskbridge/taskbridge/adapter/seal"
)

// readdress returns a message as part of another exchange, and from another process.
func readdress(payload []byte, link, from string) []byte {
	return rewrite(payload, func(oldLink, oldFrom, data string) (string, string, string) {
		if link == "" {
			return oldLink, oldFrom, data
		}
		return link, from, data
	})
}

// swap returns a message that carries something else if it carries old.
func swap(payload []byte, old, data string) []byte {
	return rewrite(payload, func(link, from, carried string) (string, string, string) {
		if carried == old {
			carried = data
		}
		return link, from, carried
	})
}

func rewrite(payload []byte, change func(link, from, data string) (string, string, string)) []byte {
	in := seal.ReadFields(payload)
	version, kind, link, from, seq, data := in.Int(), in.Int(), in.String(), in.String(), in.Int(), in.String()
	link, from, data = change(link, from, data)
	var out seal.Fields
	out.Int(version)
	out.Int(kind)
	out.String(link)
	out.String(from)
	out.Int(seq)
	out.String(data)
	return out.Bytes()
}

// TestReplayed: who can read and send messages, and has no secret, cannot have a request
// served once more, with the credential of its caller.
func TestReplayed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		link, from string
		wait       time.Duration
	}{
		"at once":                     {},
		"when it was forgotten":       {wait: 10 * time.Minute},
		"in another exchange":         {link: "another"},
		"in another exchange, as own": {link: "another", from: "another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, 0, 0, echo)
				sub, err := p.wire.Subscribe(t.Context(), "process/"+p.second.ID())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.first.Pass(httptest.NewRecorder(), request(t, "x"), []byte("x"), p.second.ID()); err != nil {
					t.Fatal(err)
				}
				sub.Close()
				from := tt.from
				if from == "" {
					from = p.first.ID()
				}
				time.Sleep(tt.wait)
				n := 0
				for e := range sub.Events() {
					n++
					if err := p.wire.Publish(t.Context(), "process/"+p.second.ID(), readdress(e.Payload, tt.link, from)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Second)
				if served := p.calls.Load(); n == 0 || served != 1 {
					t.Errorf("%d messages, served %d times", n, served)
				}
			})
		})
	}
}

// TestAnotherBody: nobody reads another body to its end than the one that the caller
// has sent.
func TestAnotherBody(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"as long": "smash it", "longer": "spare it not", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, 0, 0, func(_ http.ResponseWriter, r *http.Request) {
					if got, err := io.ReadAll(r.Body); err == nil {
						t.Errorf("has read %q", got)
					}
				})
				p.wire.alter = func(payload []byte) []byte { return swap(payload, "spare it", body) }
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				_, _ = p.first.Pass(httptest.NewRecorder(), request(t, "spare it").WithContext(ctx), []byte("spare it"), p.second.ID())
				synctest.Wait()
				if n := p.calls.Load(); n != 1 {
					t.Errorf("served %d times", n)
				}
			})
		})
	}
}

// TestPassAnotherSecret: a process that cannot read a request says at once that it has
// not served it.
func TestPassAnotherSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 0, 0, echo)
		keys, err := seal.New([][]byte{bytes.Repeat([]byte("n"), seal.SecretSize)}, p.first.Env.Random())
		if err != nil {
			t.Fatal(err)
		}
		o := p.first.Options
		o.Keys = keys
		third, err := replica.New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = third.Close(t.Context()) }()
		start := time.Now()
		if began, err := third.Pass(httptest.NewRecorder(), request(t, "x"), []byte("x"), p.second.ID()); began || !errors.Is(err, replica.ErrGone) {
			t.Errorf("%v, %v", began, err)
		}
		if took := time.Since(start); took > time.Second || p.calls.Load() != 0 {
			t.Errorf("known after %v, served %d times", took, p.calls.Load())
		}
	})
}
