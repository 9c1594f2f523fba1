package demo

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// The two content types an answer can have.
const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// writeLimit is how long a client may take to read one message, so that one
// that stopped reading cannot hold a stream for ever.
const writeLimit = 10 * time.Second

// reply writes the answer to one POST: a JSON object, or an event stream once
// a notification comes before the result. It is used by one goroutine.
type reply struct {
	w       http.ResponseWriter
	control *http.ResponseController
	id      json.RawMessage // nil while it is not known
	events  bool            // the client takes an event stream
	plain   bool            // the client takes a JSON object
	open    bool            // the stream has begun
}

func newReply(w http.ResponseWriter, r *http.Request) *reply {
	events, plain := accepted(r.Header)
	return &reply{w: w, control: http.NewResponseController(w), events: events, plain: plain}
}

// notify sends a notification on the stream of the request.
func (r *reply) notify(method string, params object) error {
	return r.event(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// finish sends the result and ends the answer.
func (r *reply) finish(result object) {
	r.end(object{"jsonrpc": "2.0", "id": r.id, "result": result}, http.StatusOK)
}

// fail sends an error and ends the answer. Its HTTP status only shows if no
// stream has begun.
func (r *reply) fail(err error) {
	e := asRPC(err)
	msg := object{"jsonrpc": "2.0", "error": failureBody(e)}
	if r.id != nil {
		msg["id"] = r.id
	}
	status := e.status
	if status == 0 {
		status = http.StatusOK
	}
	r.end(msg, status)
}

// failureBody is the error member of a response.
func failureBody(e *rpcError) object {
	body := object{"code": e.code, "message": e.message}
	if e.data != nil {
		body["data"] = e.data
	}
	return body
}

func (r *reply) end(msg object, status int) {
	if r.open || (status == http.StatusOK && !r.plain && r.events) {
		// a client that cannot be written to has left, and is owed nothing
		_ = r.event(msg)
		return
	}
	body, err := encode(msg)
	if err != nil {
		http.Error(r.w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := r.w.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	r.w.WriteHeader(status)
	_, _ = r.w.Write(body)
}

// event sends a message as an event, and begins the stream if need be. Events
// have no id: streams of this revision cannot be resumed.
func (r *reply) event(msg object) error {
	body, err := encode(msg)
	if err != nil {
		return err
	}
	return r.write("event: message\ndata: " + string(body) + "\n\n")
}

// keepAlive sends a comment, which clients ignore and intermediaries see.
func (r *reply) keepAlive() error { return r.write(":\n\n") }

func (r *reply) write(chunk string) error {
	if !r.open {
		r.open = true
		h := r.w.Header()
		h.Set("Content-Type", typeEvents)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no")
		r.w.WriteHeader(http.StatusOK)
	}
	// not every writer has a deadline to set
	if err := r.control.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := r.w.Write([]byte(chunk)); err != nil {
		return err
	}
	return r.control.Flush()
}
