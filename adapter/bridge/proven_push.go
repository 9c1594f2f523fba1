package bridge

import (
	"slices"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// maxUnproven bounds the messages of a session that wait for the proof of its
// credential.
const maxUnproven = 256

// pusher pushes messages to a session as long as its credential is proven. It never
// blocks: where the backend has to be asked, they wait.
type pusher struct {
	p       *Proven
	backend string
	caller  port.Caller
	to      func(key string, msg []byte)

	mu      sync.Mutex
	waiting []pushed
	asking  bool
}

type pushed struct {
	key string
	msg []byte
}

func (p *Proven) push(backend string, caller port.Caller, to func(key string, msg []byte)) func(key string, msg []byte) {
	return (&pusher{p: p, backend: backend, caller: caller, to: to}).push
}

func (u *pusher) push(key string, msg []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.asking && u.p.prover.Proven(u.backend, u.caller) {
		u.to(key, msg)
		return
	}
	if key != "" {
		u.waiting = slices.DeleteFunc(u.waiting, func(w pushed) bool { return w.key == key })
	}
	if u.waiting = append(u.waiting, pushed{key, msg}); len(u.waiting) > maxUnproven {
		u.waiting = slices.Delete(u.waiting, 0, 1)
	}
	if !u.asking {
		u.asking = u.p.spawn(u.ask)
	}
}

// ask pushes what waits, or drops it: whoever may not have it is told nothing, and who
// cannot be proven finds out by asking.
func (u *pusher) ask() {
	err := u.p.prover.Require(u.p.ctx, u.backend, u.caller)
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, w := range u.waiting {
		if err == nil {
			u.to(w.key, w.msg)
		}
	}
	u.waiting, u.asking = nil, false
}

// spawn runs f beside everything else, unless the guard is closed.
func (p *Proven) spawn(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.work.Go(f)
	return true
}
