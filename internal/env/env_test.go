package env_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

var errLate = errors.New("late")

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := env.System()
		start := e.Now()
		if err := env.Sleep(t.Context(), e, time.Minute); err != nil {
			t.Errorf("Sleep: %v", err)
		}
		if got := e.Now().Sub(start); got != time.Minute {
			t.Errorf("slept %v, want 1m", got)
		}
	})
}

func TestSleepEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := env.System()
		ctx, cancel := context.WithCancelCause(t.Context())
		start := e.Now()
		e.AfterFunc(time.Second, func() { cancel(errLate) })
		if err := env.Sleep(ctx, e, time.Hour); !errors.Is(err, errLate) {
			t.Errorf("Sleep: %v, want the cause", err)
		}
		if got := e.Now().Sub(start); got != time.Second {
			t.Errorf("slept %v, want 1s", got)
		}
	})
}

func TestWithTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := env.System()
		start := e.Now()
		ctx, cancel := env.WithTimeout(t.Context(), e, 5*time.Second, errLate)
		defer cancel()
		<-ctx.Done()
		if got := e.Now().Sub(start); got != 5*time.Second {
			t.Errorf("done after %v, want 5s", got)
		}
		if err := context.Cause(ctx); !errors.Is(err, errLate) {
			t.Errorf("cause %v, want the given one", err)
		}
	})
}

func TestWithTimeoutCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := env.System()
		ctx, cancel := env.WithTimeout(t.Context(), e, time.Second, errLate)
		cancel()
		cancel()
		<-ctx.Done()
		if err := env.Sleep(t.Context(), e, 2*time.Second); err != nil { // past the deadline
			t.Fatal(err)
		}
		if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cause %v, want %v", err, context.Canceled)
		}
	})
}

func TestWithTimeoutFollowsItsParent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent, stop := context.WithCancelCause(t.Context())
		ctx, cancel := env.WithTimeout(parent, env.System(), time.Hour, errLate)
		defer cancel()
		want := errors.New("parent")
		stop(want)
		<-ctx.Done()
		if err := context.Cause(ctx); !errors.Is(err, want) {
			t.Errorf("cause %v, want the parent's", err)
		}
	})
}

func TestTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := env.System()
		timer := e.NewTimer(time.Second)
		if !timer.Stop() {
			t.Error("a running timer does not stop")
		}
		if timer.Stop() {
			t.Error("a stopped timer stops again")
		}
		fired := false
		stop := e.AfterFunc(time.Second, func() { fired = true })
		if !stop() {
			t.Error("a waiting function does not stop")
		}
		start := e.Now()
		at := <-e.NewTimer(3 * time.Second).C
		if got := at.Sub(start); got != 3*time.Second {
			t.Errorf("the timer fired after %v, want 3s", got)
		}
		if fired {
			t.Error("a stopped function ran")
		}
	})
}

type fixedRandom struct {
	env.Env
	r io.Reader
}

func (f fixedRandom) Random() io.Reader { return f.r }

func TestNewID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		id, err := env.NewID(env.System())
		if err != nil {
			t.Fatal(err)
		}
		if seen[id] {
			t.Fatalf("id %s came twice", id)
		}
		seen[id] = true
		// A-L10, A-H1: visible ASCII that needs no escaping, at least 128 bits.
		if len(id) < 22 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("id %q", id)
		}
	}
	got, err := env.NewID(fixedRandom{env.System(), strings.NewReader(strings.Repeat("\xff", 20))})
	if err != nil || got != strings.Repeat("_", 26)+"8" {
		t.Errorf("NewID = %q, %v; want it to take its bytes from the source", got, err)
	}
}

func TestNewIDWithoutRandomness(t *testing.T) {
	t.Parallel()
	_, err := env.NewID(fixedRandom{env.System(), iotest.ErrReader(errLate)})
	if !errors.Is(err, errLate) {
		t.Errorf("error %v, want the source's", err)
	}
	_, err = env.NewID(fixedRandom{env.System(), strings.NewReader("short")})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want %v", err, io.ErrUnexpectedEOF)
	}
}
