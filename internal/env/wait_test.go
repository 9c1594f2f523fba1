package env_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

// fixed is the system with its own randomness.
type fixed struct {
	env.Env
	random io.Reader
}

func (f fixed) Random() io.Reader { return f.random }

func TestJitter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		random []byte
		want   time.Duration
	}{
		{"lowest", []byte{0, 0, 0, 0}, 900 * time.Millisecond},
		{"highest", []byte{255, 255, 255, 255}, 1100 * time.Millisecond},
		{"without randomness", nil, time.Second},
	} {
		if got := env.Jitter(fixed{env.System(), bytes.NewReader(tt.random)}, time.Second, 0.9, 1.1); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var group sync.WaitGroup
		group.Go(func() { time.Sleep(time.Second) })
		ctx, cancel := context.WithCancelCause(t.Context())
		errLate := errors.New("late")
		cancel(errLate)
		if err := env.Join(ctx, &group); !errors.Is(err, errLate) {
			t.Errorf("a wait that was cut ended with %v", err)
		}
		if err := env.Join(t.Context(), &group); err != nil {
			t.Errorf("a wait to the end ended with %v", err)
		}
	})
}
