package transport

import (
	"context"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// freeBytes of a message are not counted: there are more answers like that than it
	// would be worth.
	freeBytes = 8 << 10
	// holdStep is the least that is reserved at a time, in bytes, for a message whose
	// size is not known.
	holdStep = 64 << 10
	// holdTime is how long a server is left unread until there is room for what it sends.
	holdTime = 5 * time.Second
)

// memory is what the messages of one exchange hold of what all may.
type memory struct {
	of  port.Memory // nil counts nothing
	env env.Env
	ctx context.Context //nolint:containedctx // of the exchange that it is a part of

	mu    sync.Mutex
	bytes int64    // reserved, beside those that are free
	back  []func() // give back what does not go with the exchange
}

// grow sees to it that a message of so many bytes has room.
//
//nolint:contextcheck,nolintlint // the context is that of the exchange; contextcheck reads this itself
func (m *memory) grow(size int64) error {
	if m.of == nil || size <= freeBytes {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := size - freeBytes - m.bytes
	if n <= 0 {
		return nil
	}
	release, ok := m.of.TryHold(m.ctx, n)
	if !ok {
		ctx, cancel := env.WithTimeout(m.ctx, m.env, holdTime, port.ErrNoRoom)
		defer cancel()
		var err error
		if release, err = m.of.Hold(ctx, n); err != nil {
			return err
		}
	}
	m.bytes += n
	if release != nil {
		m.back = append(m.back, release)
	}
	return nil
}

// release gives back what does not go with the exchange.
func (m *memory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.back == nil {
		return
	}
	for _, back := range m.back {
		back()
	}
	m.bytes, m.back = 0, nil
}

// counted reads an answer of unknown size, step by step as there is room for it.
type counted struct {
	x    *Exchange
	read int64
}

// Read implements [io.Reader].
func (c *counted) Read(p []byte) (int, error) {
	if err := c.x.held.grow(c.read + min(int64(len(p)), holdStep)); err != nil {
		return 0, err
	}
	n, err := c.x.Read(p[:min(len(p), holdStep)])
	c.read += int64(n)
	return n, err
}
