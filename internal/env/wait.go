package env

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"sync"
	"time"
)

// Jitter returns a duration between low and high times d, so that what many do at
// the same pace does not happen in step.
func Jitter(e Env, d time.Duration, low, high float64) time.Duration {
	var b [4]byte
	if _, err := io.ReadFull(e.Random(), b[:]); err != nil {
		return d
	}
	part := float64(binary.BigEndian.Uint32(b[:])) / math.MaxUint32
	return time.Duration((low + part*(high-low)) * float64(d))
}

// Join returns when the group is done, or with the cause when ctx is.
func Join(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
