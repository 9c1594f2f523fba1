package proof_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/proof"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// server answers each request with the status of its credential, after a time.
type server struct {
	mu     sync.Mutex
	status map[string]int
	takes  time.Duration
	asked  int
	fail   error
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked++
	status, takes, fail := s.status[r.Header.Get("Authorization")], s.takes, s.fail
	s.mu.Unlock()
	if err := env.Sleep(r.Context(), env.System(), takes); err != nil {
		return nil, err
	}
	if fail != nil {
		return nil, fail
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Header: http.Header{}}, nil
}

func (s *server) set(authorization string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status[authorization] = status
}

func (s *server) wantAsked(t *testing.T, n int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked != n {
		t.Errorf("the backend was asked %d times, want %d", s.asked, n)
	}
	s.asked = 0
}

// desk is a book and its backend.
type desk struct {
	*testing.T
	*proof.Book
	server *server
	client *http.Client
}

func bubble(t *testing.T, test func(d *desk)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := proof.New(env.System())
		if err != nil {
			t.Fatal(err)
		}
		s := &server{status: map[string]int{"a": http.StatusOK, "b": http.StatusUnauthorized}}
		test(&desk{T: t, Book: b, server: s, client: &http.Client{Transport: b.Transport(s)}})
	})
}

// send is a request of anybody's.
func (d *desk) send(ctx context.Context, authorization string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://quarry.test/mcp", http.NoBody)
	if err != nil {
		return err
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	resp, err := d.client.Do(r)
	if err != nil {
		return &port.UpstreamError{Op: "ping", Err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		return &port.UpstreamError{Op: "ping", Status: resp.StatusCode, Err: jsonrpc.NewError(-32022, "a secret of the backend")}
	}
	return nil
}

func (d *desk) require(authorization string) error {
	return d.Require(d.Context(), authorization, func(ctx context.Context) error { return d.send(ctx, authorization) })
}

func (d *desk) want(authorization string, status int) {
	d.Helper()
	err := d.require(authorization)
	if (err == nil) != (status == http.StatusOK) || err != nil && edge.Refused(err).Status != status {
		d.Errorf("%s: %v, want HTTP %d", authorization, err, status)
	}
}

func TestAnAcceptedCredentialIsProvenForAMinute(t *testing.T) {
	bubble(t, func(d *desk) {
		d.want("a", http.StatusOK)
		d.server.wantAsked(t, 1)
		time.Sleep(proof.Fresh - time.Millisecond)
		d.want("a", http.StatusOK)
		d.server.wantAsked(t, 0)
		time.Sleep(time.Millisecond)
		if d.Proven("a") {
			t.Error("proven for longer than a minute")
		}
		d.want("a", http.StatusOK)
		d.server.wantAsked(t, 1)
	})
}

// TestEveryAcceptedRequestCounts: busy callers cost nothing.
func TestEveryAcceptedRequestCounts(t *testing.T) {
	bubble(t, func(d *desk) {
		for range 5 {
			if err := d.send(d.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			d.server.wantAsked(t, 1)
			time.Sleep(proof.Fresh / 2)
			d.want("a", http.StatusOK)
			d.server.wantAsked(t, 0)
		}
		if d.Proven("c") || d.Proven("") {
			t.Error("the acceptance of one credential proves another")
		}
	})
}

func TestARefusalEndsTheProof(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			bubble(t, func(d *desk) {
				d.want("a", http.StatusOK)
				time.Sleep(time.Second)
				d.server.set("a", status)
				d.want("a", http.StatusOK) // nobody knows yet
				_ = d.send(d.Context(), "a")
				d.want("a", status)
				d.server.set("a", http.StatusOK)
				d.want("a", http.StatusOK) // a refusal is never remembered for an answer
			})
		})
	}
}

// TestTheNewestVerdictCounts: an answer that was long on its way says nothing of what
// became of the credential meanwhile.
func TestTheNewestVerdictCounts(t *testing.T) {
	bubble(t, func(d *desk) {
		d.server.mu.Lock()
		d.server.takes = 10 * time.Second
		d.server.mu.Unlock()
		go func() { _ = d.send(context.Background(), "a") }()
		time.Sleep(time.Second)
		d.server.mu.Lock()
		d.server.takes, d.server.status["a"] = 0, http.StatusUnauthorized
		d.server.mu.Unlock()
		_ = d.send(d.Context(), "a")
		time.Sleep(10 * time.Second)
		if d.Proven("a") {
			t.Error("an older acceptance outweighs a refusal")
		}
	})
}

// TestTheProofIsAsOldAsTheRequest: a slow answer proves what was so when it was asked.
func TestTheProofIsAsOldAsTheRequest(t *testing.T) {
	bubble(t, func(d *desk) {
		d.server.mu.Lock()
		d.server.takes = 50 * time.Second
		d.server.mu.Unlock()
		d.want("a", http.StatusOK)
		time.Sleep(10 * time.Second)
		if d.Proven("a") {
			t.Error("proven by a request of more than a minute ago")
		}
	})
}

// TestOnlyAnAnswerProves: what says nothing of the credential is no acceptance, and the
// client is told nothing that it did not ask for.
func TestOnlyAnAnswerProves(t *testing.T) {
	for name, spoil := range map[string]func(s *server){
		"unreachable":      func(s *server) { s.fail = errors.New("connection refused") },
		"a lost session":   func(s *server) { s.status["a"] = http.StatusNotFound },
		"a bad request":    func(s *server) { s.status["a"] = http.StatusBadRequest },
		"an ill backend":   func(s *server) { s.status["a"] = http.StatusBadGateway },
		"a redirect":       func(s *server) { s.status["a"] = http.StatusNotModified },
		"too many of them": func(s *server) { s.status["a"] = http.StatusTooManyRequests },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(d *desk) {
				spoil(d.server)
				err := d.require("a")
				if err == nil || edge.Refused(err).Status != 0 || d.Proven("a") {
					t.Fatalf("error %v", err)
				}
				if e := port.RPCError(err); e.Code != jsonrpc.CodeInternal || e.Message != "the backend does not confirm the credential" {
					t.Errorf("the client is told %+v", e)
				}
			})
		})
	}
}

// TestConcurrentQuestionsAreOne: whoever waits for one credential shares a request, and
// its end; another credential has its own.
func TestConcurrentQuestionsAreOne(t *testing.T) {
	bubble(t, func(d *desk) {
		d.server.mu.Lock()
		d.server.takes = time.Second
		d.server.mu.Unlock()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { d.want("a", http.StatusOK) })
			wg.Go(func() { d.want("b", http.StatusUnauthorized) })
		}
		wg.Wait()
		d.server.wantAsked(t, 2)
	})
}

// TestWhoLeavesEndsNobodysWait: and the request ends with the last of them.
func TestWhoLeavesEndsNobodysWait(t *testing.T) {
	bubble(t, func(d *desk) {
		d.server.mu.Lock()
		d.server.takes = time.Hour
		d.server.mu.Unlock()
		ctx, cancel := context.WithTimeout(d.Context(), time.Second)
		defer cancel()
		asked := make(chan error, 1)
		err := d.Require(ctx, "a", func(ctx context.Context) error {
			err := d.send(ctx, "a")
			asked <- err
			return err
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if err := <-asked; !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			t.Errorf("the request ended with %v", err)
		}
	})
}

// TestRequestsWithoutACredentialAreNobodys: there is nothing to prove.
func TestRequestsWithoutACredentialAreNobodys(t *testing.T) {
	bubble(t, func(d *desk) {
		d.server.set("", http.StatusOK)
		if err := d.send(d.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if d.Proven("") {
			t.Error("no credential was accepted")
		}
	})
}
