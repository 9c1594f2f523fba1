package proof

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/flight"
)

// Fresh is how long the acceptance of a credential is proof of it.
const Fresh = time.Minute

// remembered is how many credentials are remembered of a backend. One that is
// forgotten costs a request.
const remembered = 16384

// Book has the proofs of one backend. It is safe for concurrent use.
type Book struct {
	env    env.Env
	asking flight.Group[credential, struct{}]

	mu    sync.Mutex
	known *lru.Cache[credential, verdict]
}

// credential stands for an Authorization header, which is not kept.
type credential [sha256.Size]byte

// verdict is what the backend has made of a credential in the newest request that it has
// answered, and when that was sent: until then it had not thought otherwise.
type verdict struct {
	sent     time.Time
	accepted bool
}

// New returns an empty book.
func New(e env.Env) (*Book, error) {
	known, err := lru.New[credential, verdict](remembered)
	if err != nil {
		return nil, err
	}
	return &Book{env: e, known: known}, nil
}

func hash(authorization string) credential { return sha256.Sum256([]byte(authorization)) }

// Proven reports whether the backend has accepted an Authorization header within the
// last minute, and has not refused it since.
func (b *Book) Proven(authorization string) bool { return b.proven(hash(authorization)) }

func (b *Book) proven(c credential) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, known := b.known.Get(c)
	return known && v.accepted && b.env.Now().Sub(v.sent) < Fresh
}

// note takes note of an answer to a request that was sent at an instant. Other statuses
// say nothing of the credential: that of a lost session may come before it is looked at.
func (b *Book) note(c credential, sent time.Time, status int) {
	accepted := status >= 200 && status < 300
	if refused := status == http.StatusUnauthorized || status == http.StatusForbidden; !accepted && !refused {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if v, _ := b.known.Get(c); sent.Before(v.sent) {
		return // a newer one has told already
	}
	b.known.Add(c, verdict{sent, accepted})
}

// Require returns nil once the credential is proven. Ask is what it takes to have the
// backend look at it, and runs once for all who wait; its result does not matter, but
// that the backend has accepted the credential or not. The error is the backend's
// refusal, an *[port.UpstreamError] with its status, or one that a client sees as
// -32603.
func (b *Book) Require(ctx context.Context, authorization string, ask func(ctx context.Context) error) error {
	c := hash(authorization)
	if b.proven(c) {
		return nil
	}
	_, err := b.asking.Do(ctx, c, func(ctx context.Context) (struct{}, error) {
		if b.proven(c) { // by another request in between
			return struct{}{}, nil
		}
		err := ask(ctx)
		if b.proven(c) {
			return struct{}{}, nil
		}
		return struct{}{}, unproven(err)
	})
	return err
}

var errSilent = errors.New("the answer says nothing of the credential")

// unproven is why a credential is not proven. The code that a backend gave for it is of
// a request that the client did not make.
func unproven(err error) error {
	var upstream *port.UpstreamError
	switch {
	case err == nil:
		err = errSilent
	case errors.As(err, &upstream) && (upstream.Status == http.StatusUnauthorized || upstream.Status == http.StatusForbidden):
		return &port.UpstreamError{Op: upstream.Op, Status: upstream.Status, Sent: true, Err: errRefused}
	}
	return &port.CauseError{Text: "credential not proven: " + port.Reason(err), Public: "the backend does not confirm the credential"}
}

var errRefused = errors.New("credential refused")

// Transport returns a transport to the backend that takes note of what becomes of the
// credentials that it is shown.
func (b *Book) Transport(next http.RoundTripper) http.RoundTripper {
	return &transport{RoundTripper: next, book: b}
}

type transport struct {
	http.RoundTripper
	book *Book
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	authorization := r.Header.Get("Authorization")
	if authorization == "" {
		return t.RoundTripper.RoundTrip(r)
	}
	sent := t.book.env.Now()
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		t.book.note(hash(authorization), sent, resp.StatusCode)
	}
	return resp, err
}

// CloseIdleConnections passes on what [http.Client.CloseIdleConnections] asks.
func (t *transport) CloseIdleConnections() {
	if closer, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}
