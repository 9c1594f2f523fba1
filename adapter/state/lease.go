package state

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrHeld is what every [*HeldError] matches with errors.Is.
	ErrHeld = errors.New("state: lease is held")
	// ErrLost says that a lease has expired or was released, so that somebody
	// else may hold it by now.
	ErrLost = errors.New("state: lease is lost")
)

// HeldError says who holds a lease that could not be acquired. It matches
// [ErrHeld].
type HeldError struct {
	Name   string
	Holder string
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("state: lease %q is held by %q", e.Name, e.Holder)
}

// Is reports whether target is [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Lease is the right to be the only one who does something, for a while. A
// holder that was stopped for longer than its ttl does not notice by itself: it
// must renew in time, and where that is not enough carry the token along with
// its writes, so that a successor's larger one wins.
type Lease interface {
	// Token is the fencing token: larger than that of every earlier lease of
	// the same name, also across restarts of the store.
	Token() int64

	// Renew lets the lease run for ttl from now on, or returns ErrLost.
	Renew(ctx context.Context, ttl time.Duration) error

	// Release gives the lease up. Releasing a lost lease is no error and does
	// not touch its successor.
	Release(ctx context.Context) error
}
