package faultnet

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Dial connects to a server, as [net.Dialer.DialContext] does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Proxy stands between clients and servers. Its fields do not change; call [New].
type Proxy struct {
	dial  Dial
	fault Fault
	stop  chan struct{}
	work  sync.WaitGroup

	mu       sync.Mutex
	links    int
	numbers  map[Way]int
	messages []Message
	struck   *Message
	passed   map[Way]chan struct{} // closed when a message has passed
	closed   bool
}

// New returns a proxy to what dial reaches. A fault without a kind never happens.
func New(dial Dial, fault Fault) *Proxy {
	return &Proxy{
		dial: dial, fault: fault, stop: make(chan struct{}), numbers: map[Way]int{},
		passed: map[Way]chan struct{}{ToServer: make(chan struct{}), ToClient: make(chan struct{})},
	}
}

// Messages returns what has been seen, in order.
func (p *Proxy) Messages() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Message(nil), p.messages...)
}

// Struck returns the message that the fault has hit; false if it has not come.
func (p *Proxy) Struck() (Message, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.struck == nil {
		return Message{}, false
	}
	return *p.struck, true
}

// Close breaks all connections and waits until nothing runs any more.
func (p *Proxy) Close() {
	p.mu.Lock()
	if !p.closed {
		close(p.stop)
	}
	p.closed = true
	p.mu.Unlock()
	p.work.Wait()
}

// Dial connects through the proxy. Its signature is that of [Dial].
func (p *Proxy) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	server, err := p.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_, _ = near.Close(), server.Close()
		return nil, net.ErrClosed
	}
	p.links++
	l := &link{proxy: p, number: p.links, client: far, server: server, network: network, address: address, done: make(chan struct{})}
	p.work.Go(func() { l.relay(far, l.responses) })   //nolint:contextcheck // it outlives the dialing
	p.work.Go(func() { l.relay(server, l.requests) }) //nolint:contextcheck // it outlives the dialing
	p.work.Go(func() {
		select {
		case <-p.stop:
			l.close()
		case <-l.done:
		}
	})
	return near, nil
}

// see numbers a message and reports whether it is the one to hit.
func (p *Proxy) see(m *Message, sender int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.Sender = sender
	if m.Form != blank && m.Form != end {
		p.numbers[m.Way]++
		m.Number = p.numbers[m.Way]
		p.messages = append(p.messages, *m)
	}
	if m.Number == 0 || m.Way != p.fault.Way || m.Number != p.fault.Number || m.torn || !p.fault.Kind.Applies(m) {
		return false
	}
	struck := *m
	p.struck = &struck
	return p.fault.Kind != ""
}

// next is closed when the next message has passed this way.
func (p *Proxy) next(w Way) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed[w]
}

func (p *Proxy) pass(w Way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.passed[w])
	p.passed[w] = make(chan struct{})
}

// link is one connection of a client and the one that goes on to the server.
type link struct {
	proxy            *Proxy
	number           int
	client, server   net.Conn
	network, address string
	once             sync.Once
	done             chan struct{}

	mu      sync.Mutex
	methods []string // of requests without an answer
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.done)
		_, _ = l.client.Close(), l.server.Close()
	})
}

func (l *link) asked(method string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.methods = append(l.methods, method)
}

func (l *link) answered() (method string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.methods) > 0 {
		method, l.methods = l.methods[0], l.methods[1:]
	}
	return method
}

// relay passes on what read finds, until the sender ends or the link is cut. What
// is on its way when the sender ends still arrives.
func (l *link) relay(to io.Writer, read func(func(*Message)) error) {
	defer l.close()
	queue := make(chan *Message, 1<<10)
	l.proxy.work.Go(func() {
		defer close(queue)
		_ = read(func(m *Message) {
			select {
			case queue <- m:
			case <-l.done:
			}
		})
	})
	for {
		select {
		case m, more := <-queue:
			if !more || !l.forward(to, m, queue) {
				return
			}
		case <-l.done:
			return
		}
	}
}

// forward passes one message on, and reports whether the connection goes on.
func (l *link) forward(to io.Writer, m *Message, queue <-chan *Message) bool {
	if l.proxy.see(m, l.number) {
		return l.strike(to, m, queue)
	}
	return l.write(to, m, m.raw())
}

func (l *link) write(to io.Writer, m *Message, raw []byte) bool {
	_, err := to.Write(raw)
	if m.Number > 0 {
		l.proxy.pass(m.Way)
	}
	return err == nil && !m.torn
}

// strike does to a message what the fault says.
func (l *link) strike(to io.Writer, m *Message, queue <-chan *Message) bool {
	raw := m.raw()
	switch l.proxy.fault.Kind {
	case CutBefore:
		return false
	case CutInside:
		_, _ = to.Write(raw[:len(raw)/2])
		return false
	case CutAfter:
		l.write(to, m, raw)
		return false
	case TruncateEnd:
		l.write(to, m, m.half(false))
		return false
	case TruncateFramed:
		return l.write(to, m, m.half(true))
	case DelayShort:
		return l.wait(nil, Short) && l.write(to, m, raw)
	case DelayLong:
		return l.wait(nil, Long) && l.write(to, m, raw)
	case Reorder:
		if m.Form == Event {
			return l.swap(to, m, queue)
		}
		return l.wait(l.proxy.next(m.Way), Patience) && l.write(to, m, raw)
	case Repeat:
		if m.Form == Request {
			l.again(raw)
			return l.write(to, m, raw)
		}
		return l.write(to, m, append(bytes.Clone(raw), raw...))
	default:
		return l.write(to, m, raw)
	}
}

// wait returns false when the link was cut first.
func (l *link) wait(until <-chan struct{}, atMost time.Duration) bool {
	late := time.NewTimer(atMost)
	defer late.Stop()
	select {
	case <-until:
	case <-late.C:
	case <-l.done:
		return false
	}
	return true
}

// swap lets the next event of the stream pass first. The end of the stream does not.
func (l *link) swap(to io.Writer, m *Message, queue <-chan *Message) bool {
	late := time.NewTimer(Patience)
	defer late.Stop()
	for {
		select {
		case next, more := <-queue:
			switch {
			case !more:
				l.write(to, m, m.raw())
				return false
			case next.Form == blank:
				if !l.write(to, next, next.raw()) {
					return false
				}
				continue
			case next.Form == end:
				return l.write(to, m, m.raw()) && l.write(to, next, next.raw())
			}
			l.proxy.see(next, l.number)
			return l.write(to, next, next.raw()) && l.write(to, m, m.raw())
		case <-late.C:
			return l.write(to, m, m.raw())
		case <-l.done:
			return false
		}
	}
}

// again sends a request on a connection of its own and drops the answer.
func (l *link) again(raw []byte) {
	p := l.proxy
	p.work.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p.work.Go(func() {
			select {
			case <-p.stop:
				cancel()
			case <-ctx.Done():
			}
		})
		conn, err := p.dial(ctx, l.network, l.address)
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		unhook := context.AfterFunc(ctx, func() { _ = conn.Close() })
		defer unhook()
		if _, err := conn.Write(raw); err != nil {
			return
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	})
}
