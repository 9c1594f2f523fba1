package replica

import (
	"context"
	"crypto/sha256"
	"io"
	"sync"
)

// incoming is the body of a request of another process. No more of it is held than may
// be on its way: whoever reads it finds the room for it.
type incoming struct {
	ctx    context.Context //nolint:containedctx // of the request
	l      *link
	left   int64  // bytes that have not come
	digest string // of the whole

	arrived chan struct{} // capacity 1
	mu      sync.Mutex
	unread  []string
	end     error // what follows what is unread; nil while it is not known
}

var _ io.ReadCloser = (*incoming)(nil)

// receive takes the body off its exchange, and returns once the client is gone.
func (b *incoming) receive() error {
	sum := sha256.New()
	for {
		switch {
		case b.left < 0, b.left == 0 && string(sum.Sum(nil)) != b.digest:
			b.finish(errRequest)
		case b.left == 0:
			b.finish(io.EOF)
		}
		f, err := b.l.pull(b.ctx)
		if err != nil || f.kind != kindBody {
			b.finish(errClient)
			return errClient
		}
		b.left -= int64(len(f.data))
		_, _ = sum.Write([]byte(f.data)) // never fails
		b.add(f.data)
	}
}

func (b *incoming) add(data string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unread = append(b.unread, data)
	b.wake()
}

// finish sets how the body ends, unless it has.
func (b *incoming) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end == nil {
		b.end = err
	}
	b.wake()
}

// wake wakes the reader. The lock is held.
func (b *incoming) wake() {
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// Read implements [io.Reader].
func (b *incoming) Read(p []byte) (int, error) {
	for {
		if n, err := b.read(p); n > 0 || err != nil || len(p) == 0 {
			b.l.credit(n)
			return n, err
		}
		select {
		case <-b.arrived:
		case <-b.ctx.Done():
			return 0, context.Cause(b.ctx)
		}
	}
}

// read returns what has arrived.
func (b *incoming) read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.unread) == 0 {
		return 0, b.end
	}
	n := copy(p, b.unread[0])
	if b.unread[0] = b.unread[0][n:]; b.unread[0] == "" {
		b.unread = b.unread[1:]
	}
	return n, nil
}

// Close implements [io.Closer].
func (b *incoming) Close() error { return nil }
