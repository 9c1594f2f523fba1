package bridge

import (
	"sync"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// maxBeside and maxBesideSize are how much of what is said beside a request waits for a
// client that reads slowly, in messages and in bytes behind the first; what comes then is
// dropped.
const (
	maxBeside     = 64
	maxBesideSize = 1 << 20
)

// beside is what a backend says about a request on the standing stream of its
// session. It must not wait there for the client: others are told on it, too.
type beside struct {
	mu      sync.Mutex
	waiting []jsonrpc.Message
	size    int // of their params
	telling bool
	over    bool
	work    sync.WaitGroup
}

// aside takes a notification that came beside the request's own stream.
func (h *hearer) aside(msg jsonrpc.Message) {
	b := &h.beside
	b.mu.Lock()
	defer b.mu.Unlock()
	size := b.size + len(msg.Params)
	if b.over || len(b.waiting) >= maxBeside || len(b.waiting) > 0 && size > maxBesideSize {
		return
	}
	b.waiting, b.size = append(b.waiting, msg), size
	if !b.telling {
		b.telling = true
		b.work.Go(h.tellAside)
	}
}

func (h *hearer) tellAside() {
	for {
		msg, more := h.beside.next()
		if !more {
			return
		}
		h.notification(msg)
	}
}

func (b *beside) next() (msg jsonrpc.Message, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.telling = false
		return msg, false
	}
	msg = b.waiting[0]
	b.waiting[0] = jsonrpc.Message{}
	b.waiting, b.size = b.waiting[1:], b.size-len(msg.Params)
	return msg, true
}

// end returns when everything is told: nothing may follow the answer.
func (b *beside) end() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.work.Wait()
}
