package redis

import (
	"context"
	"runtime"
	"sync"

	"github.com/redis/go-redis/v9"
)

const (
	// batchCalls and batchBytes bound what is sent together. One larger call
	// goes alone.
	batchCalls = 64
	batchBytes = 1 << 20
	// batchesAtOnce is how many batches are under way: while the server works on
	// one, the answers to another are read and the next is put together.
	batchesAtOnce = 4
)

// batcher sends scripts that are waiting at the same time in one go, which
// spares both ends most of their work. A call that comes alone waits for nobody.
// A cluster has none: its calls go to different nodes.
type batcher struct {
	store *Store

	mu     sync.Mutex
	queue  []*call
	active int
}

// call is one script under way.
type call struct {
	cmd  *redis.Cmd
	size int
	done chan struct{}
}

// do sends a script and returns its error, or that of ctx if it ends first.
func (b *batcher) do(ctx context.Context, cmd *redis.Cmd) error {
	c := &call{cmd: cmd, size: sizeOf(cmd), done: make(chan struct{})}
	b.mu.Lock()
	b.queue = append(b.queue, c)
	if b.active < batchesAtOnce {
		b.active++
		// Close waits for calls before it waits for work.
		b.store.work.Go(b.flush)
	}
	b.mu.Unlock()
	select {
	case <-c.done:
		return cmd.Err()
	case <-ctx.Done():
		return ctx.Err() // nobody looks at the command any more
	}
}

// flush sends batches until nothing waits.
func (b *batcher) flush() {
	for {
		calls := b.next()
		if len(calls) == 0 {
			return
		}
		pipe := b.store.client.Pipeline()
		for _, c := range calls {
			_ = pipe.Process(b.store.ctx, once{c.cmd}) // only queued
		}
		_, _ = pipe.Exec(b.store.ctx) // each command has its own error
		for _, c := range calls {
			close(c.done)
		}
		// Whoever was waiting may have the next call ready in no time.
		runtime.Gosched()
	}
}

// next takes a batch from the queue; none means that the caller is done.
func (b *batcher) next() []*call {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, size := 0, 0
	for n < len(b.queue) && n < batchCalls && (n == 0 || size+b.queue[n].size <= batchBytes) {
		size += b.queue[n].size
		n++
	}
	if n == 0 {
		b.active--
		return nil
	}
	calls := b.queue[:n:n]
	b.queue = b.queue[n:]
	return calls
}

// sizeOf returns about how many bytes a command has.
func sizeOf(cmd *redis.Cmd) (size int) {
	for _, arg := range cmd.Args() {
		switch arg := arg.(type) {
		case []byte:
			size += len(arg)
		case string:
			size += len(arg)
		}
	}
	return size
}
