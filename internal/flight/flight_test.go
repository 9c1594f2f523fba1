package flight_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/taskbridge/taskbridge/internal/flight"
)

// TestShared: callers at the same time share one piece of work, and those who come
// after its end begin anew.
func TestShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		runs, release, got := 0, make(chan struct{}), make(chan int, 3)
		work := func(context.Context) (int, error) {
			runs++
			<-release
			return runs, nil
		}
		for range 3 {
			go func() {
				n, err := g.Do(t.Context(), "a", work)
				if err != nil {
					t.Error(err)
				}
				got <- n
			}()
		}
		synctest.Wait()
		close(release)
		for range 3 {
			if n := <-got; n != 1 {
				t.Errorf("got the result of run %d; want that of the only one", n)
			}
		}
		if n, err := g.Do(t.Context(), "a", work); n != 2 || err != nil {
			t.Errorf("got %d, %v after the end; want the result of another run", n, err)
		}
	})
}

// TestEndsWithItsCallers: the work outlives the caller that has begun it, and is
// cancelled when nobody waits for it any more.
func TestEndsWithItsCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		ended := make(chan error, 1)
		work := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return 0, ctx.Err()
		}
		first, second := errors.New("first"), errors.New("second")
		leave := func(cause error) (cancel func(), done <-chan error) {
			ctx, stop := context.WithCancelCause(t.Context())
			result := make(chan error, 1)
			go func() {
				_, err := g.Do(ctx, "a", work)
				result <- err
			}()
			synctest.Wait()
			return func() { stop(cause) }, result
		}
		stop1, done1 := leave(first)
		stop2, done2 := leave(second)
		stop1()
		if err := <-done1; !errors.Is(err, first) {
			t.Errorf("the first caller got %v", err)
		}
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("the work ended with %v while somebody waited", err)
		default:
		}
		stop2()
		if err := <-done2; !errors.Is(err, second) {
			t.Errorf("the second caller got %v", err)
		}
		if err := <-ended; !errors.Is(err, second) {
			t.Errorf("the work ended with %v; want the cause of the last caller", err)
		}
	})
}
