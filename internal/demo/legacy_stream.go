package demo

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// replayWindow is how long a stream waits for its client to come back.
	replayWindow = 5 * time.Minute
	// maxEvents is how many events of a stream can be replayed.
	maxEvents = 1024
	// retryAfter is what clients are told to wait before they come back, in
	// milliseconds.
	retryAfter = 500
)

// stream is a sequence of events that outlives the connection it is sent on.
// Spec: 2025-11-25 basic/transports, "Resumability and Redelivery".
type stream struct {
	id      string
	dropped func() // called once nobody has read it for replayWindow
	moved   func() // called when a reader comes, or leaves before the end

	mu     sync.Mutex
	events []event
	last   int           // number of the latest event, also if it can no longer be replayed
	done   bool          // no event will follow
	pulse  chan struct{} // closed at the next change
	reader chan struct{} // closed when another takes over; nil while nobody reads
	orphan *time.Timer
	final  bool // its session is over: nobody will come back
}

// event is a message, or nothing, which only gives the client an id to resume
// from.
type event struct {
	number int
	body   string
}

func newStream(id string, dropped, moved func()) *stream {
	st := &stream{id: id, dropped: dropped, moved: moved, pulse: make(chan struct{})}
	st.orphan = time.AfterFunc(replayWindow, dropped)
	return st
}

// push adds an event, if the stream has not ended.
func (st *stream) push(body string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done {
		return
	}
	st.last++
	st.events = append(st.events, event{number: st.last, body: body})
	if len(st.events) > maxEvents {
		st.events = st.events[1:]
	}
	st.signal()
}

// send adds a message.
func (st *stream) send(msg object) {
	body, err := encode(msg)
	if err != nil { // nothing here is made of what cannot be encoded
		return
	}
	st.push(string(body))
}

func (st *stream) notify(method string, params object) {
	msg := object{"jsonrpc": "2.0", "method": method}
	if params != nil {
		msg["params"] = params
	}
	st.send(msg)
}

func (st *stream) finish() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.done {
		st.done = true
		st.signal()
	}
}

// signal wakes the reader. The caller holds mu.
func (st *stream) signal() {
	close(st.pulse)
	st.pulse = make(chan struct{})
}

// holds says whether the event with that number can be resumed from.
func (st *stream) holds(number int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return number >= 0 && number <= st.last && (len(st.events) == 0 || number >= st.events[0].number-1)
}

// attach makes the caller the only reader.
func (st *stream) attach() chan struct{} {
	st.mu.Lock()
	if st.reader != nil {
		close(st.reader)
	}
	reader := make(chan struct{})
	st.reader = reader
	st.orphan.Stop()
	st.mu.Unlock()
	st.moved()
	return reader
}

// detach ends what attach began, unless another took over.
func (st *stream) detach(reader chan struct{}) {
	st.mu.Lock()
	current := st.reader == reader
	if current {
		st.reader = nil
		st.wait()
	}
	early := !st.done
	st.mu.Unlock()
	if current && early {
		st.moved()
	}
}

// kick ends the connection, not the stream: its client has to come back.
func (st *stream) kick() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.reader != nil {
		close(st.reader)
		st.reader = nil
		st.wait()
	}
}

// wait begins the time that a client has to come back. The caller holds mu.
func (st *stream) wait() {
	if !st.final {
		st.orphan.Reset(replayWindow)
	}
}

// forget makes sure that nobody is waited for.
func (st *stream) forget() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.final = true
	st.orphan.Stop()
}

// read says whether somebody is there to read what is sent, or has read it all.
func (st *stream) read() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.reader != nil || st.done
}

// live says whether what is sent now is read now.
func (st *stream) live() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.reader != nil && !st.done
}

// ended says whether no event will follow.
func (st *stream) ended() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.done
}

// after returns the events above a number. ok is false if some are gone.
func (st *stream) after(number int) (events []event, done bool, pulse chan struct{}, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	missing := st.last - number
	if missing > len(st.events) {
		return nil, st.done, st.pulse, false
	}
	return append(events, st.events[len(st.events)-missing:]...), st.done, st.pulse, true
}

// relay writes a stream from after a number on, until it ends, its client
// leaves or another connection takes over.
func (st *stream) relay(ctx context.Context, rep *reply, reader chan struct{}, number int) {
	defer st.detach(reader)
	quiet := time.NewTicker(keepAlivePeriod)
	defer quiet.Stop()
	if rep.keepAlive() != nil { // shows the client that the stream is open
		return
	}
	for {
		events, done, pulse, ok := st.after(number)
		for _, e := range events {
			select {
			case <-reader: // the other connection sends it
				return
			default:
			}
			if rep.write(st.render(e)) != nil {
				return
			}
			number = e.number
		}
		if done || !ok {
			return
		}
		select {
		case <-pulse:
		case <-reader:
			return
		case <-ctx.Done():
			return
		case <-quiet.C:
			if rep.keepAlive() != nil {
				return
			}
		}
	}
}

func (st *stream) render(e event) string {
	id := fmt.Sprintf("id: %s.%d\n", st.id, e.number)
	if e.body == "" {
		return fmt.Sprintf("%sretry: %d\ndata: \n\n", id, retryAfter)
	}
	return id + "event: message\ndata: " + e.body + "\n\n"
}

// readEventID splits an event id into its stream and its number.
func readEventID(id string) (stream string, number int, ok bool) {
	stream, text, ok := strings.Cut(id, ".")
	number, err := strconv.Atoi(text)
	return stream, number, ok && err == nil
}

// listen serves GET: a new stream for what belongs to no request, or the rest
// of an earlier stream. Spec: "Listening for Messages from the Server".
func (l *Legacy) listen(rep *reply, _ http.ResponseWriter, r *http.Request) error {
	s, err := l.find(r)
	if err != nil {
		return err
	}
	defer s.enter()()
	if last := r.Header.Get(headerResume); last != "" {
		id, number, ok := readEventID(last)
		st := s.stream(id)
		if !ok || st == nil || !st.holds(number) {
			return refuse(http.StatusBadRequest, "cannot resume from this event")
		}
		st.relay(r.Context(), rep, st.attach(), number)
		return nil
	}
	st, err := s.stand()
	if err != nil {
		return err
	}
	st.relay(r.Context(), rep, st.attach(), 0)
	return nil
}
