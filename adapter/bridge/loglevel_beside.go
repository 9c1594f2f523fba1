package bridge

import (
	"sync"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// maxBeside is how much of what is said beside a request waits for a client that
// reads slowly; what comes then is dropped.
const maxBeside = 64

// beside is what a backend says about a request on the standing stream of its
// session. It must not wait there for the client: others are told on it, too.
type beside struct {
	mu      sync.Mutex
	waiting []jsonrpc.Message
	telling bool
	over    bool
	work    sync.WaitGroup
}

// aside takes a notification that came beside the request's own stream.
func (h *hearer) aside(msg jsonrpc.Message) {
	b := &h.beside
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || len(b.waiting) >= maxBeside {
		return
	}
	b.waiting = append(b.waiting, msg)
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
	b.waiting = b.waiting[1:]
	return msg, true
}

// end returns when everything is told: nothing may follow the answer.
func (b *beside) end() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.work.Wait()
}
