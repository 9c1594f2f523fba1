package env

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"time"
)

// Env is a clock and a source of randomness.
type Env interface {
	// Now returns the current time.
	Now() time.Time
	// NewTimer returns a timer that fires once after d.
	NewTimer(d time.Duration) Timer
	// AfterFunc runs f on a goroutine of its own after d, unless stopped.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
	// Random is a cryptographically secure source, safe for concurrent use.
	Random() io.Reader
}

// Timer is a running timer: C delivers once, Stop ends it early and reports
// whether it did.
type Timer struct {
	C    <-chan time.Time
	Stop func() bool
}

// System returns the real clock and randomness.
func System() Env { return system{} }

type system struct{}

func (system) Now() time.Time    { return time.Now() }
func (system) Random() io.Reader { return rand.Reader }

func (system) NewTimer(d time.Duration) Timer {
	t := time.NewTimer(d)
	return Timer{C: t.C, Stop: t.Stop}
}

func (system) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// Sleep waits for d or until ctx is done, and returns ctx's cause in that case.
func Sleep(ctx context.Context, e Env, d time.Duration) error {
	timer := e.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// WithTimeout derives a context that is cancelled with cause once d has passed
// on e's clock. The cancel function must be called.
func WithTimeout(ctx context.Context, e Env, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := e.AfterFunc(d, func() { cancel(cause) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// idBytes is the size of a minted id: 160 bits, above the 128 that PROTOCOL.md
// asks for (A-L10, A-H1).
const idBytes = 20

// NewID mints an unguessable identifier of URL-safe ASCII.
func NewID(e Env) (string, error) {
	var b [idBytes]byte
	if _, err := io.ReadFull(e.Random(), b[:]); err != nil {
		return "", fmt.Errorf("mint an id: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}
