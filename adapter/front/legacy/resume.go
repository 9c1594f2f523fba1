package legacy

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

const (
	// maxPlaceSize bounds the id of an event in bytes, so that it fits in a header
	// everywhere.
	maxPlaceSize = 2 << 10
	// maxSeqSize bounds the number in it, in digits.
	maxSeqSize = 15
)

var errUnknownEvent = errors.New("unknown event")

// parsePlace splits the id of an event into that of its stream and its number.
func parsePlace(place string) (id string, seq int64, ok bool) {
	i := strings.LastIndexByte(place, ':')
	if i < 1 || len(place) > maxPlaceSize || len(place)-i-1 > maxSeqSize {
		return "", 0, false
	}
	seq, err := strconv.ParseInt(place[i+1:], 10, 64)
	if err != nil || strconv.FormatInt(seq, 10) != place[i+1:] || seq < 0 {
		return "", 0, false
	}
	return place[:i], seq, true
}

// resume gives the stream of an event to another connection (A-L16). A wait that
// this process knows nothing of begins anew.
func (f *Face) resume(c *gin.Context, l *live, s *session, rd *reader, place string) (*stream, int64, error) {
	id, after, ok := parsePlace(place)
	if !ok {
		return nil, 0, errUnknownEvent
	}
	st, err := f.retake(l, rd, id, after)
	if !errors.Is(err, errUnknownEvent) {
		return st, after, err
	}
	msg, sealed := f.unseal(s, id)
	if !sealed {
		return nil, 0, err
	}
	st, err = f.rebuild(c, l, s, rd, id, after, msg)
	if errors.Is(err, errBusyID) { // another connection may have done the same
		st, err = f.retake(l, rd, id, after)
	}
	return st, after, err
}

// retake finds a stream and gives it to another connection.
func (f *Face) retake(l *live, rd *reader, id string, after int64) (*stream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.streams[id]
	if err := f.room(l, st); err != nil {
		return nil, err
	}
	if st == nil || !st.resumes(after) {
		return nil, errUnknownEvent
	}
	st.attach(rd, after)
	return st, nil
}

// rebuild waits for a result once more, on a stream that goes on behind the event
// that the client has got last.
func (f *Face) rebuild(c *gin.Context, l *live, s *session, rd *reader, id string, after int64, msg jsonrpc.Message) (*stream, error) {
	st := newStream(l, s.Version, false)
	st.buffer = buffer{seq: after, told: after, floor: after}
	st.begun, st.reader, st.pos = true, rd, after
	x := st.exchange(c.Request.Context(), s, msg, true)
	if err := f.restore(l, st, id); err != nil {
		x.cancel(err)
		return nil, err
	}
	if err := f.start(x, l, s, c.GetHeader("Authorization")); err != nil {
		st.leave(rd)
		return nil, err
	}
	return st, nil
}

// restore makes a stream of one request known again.
func (f *Face) restore(l *live, st *stream, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := f.room(l, nil); err != nil {
		return err
	}
	if l.streams[id] != nil {
		return errBusyID
	}
	if err := f.begin(l, st.requests[0]); err != nil {
		return err
	}
	st.tell(id)
	return nil
}

const purposeWait = "stream of a result"

// waitPurpose binds the id of a stream to its session and backend.
func waitPurpose(s *session) string { return purposeWait + " " + s.key + " " + s.Backend }

// sealed returns the id of a stream on which a single tasks/result waits: it tells
// any process how to wait again. Other streams, and requests that are too large,
// have none.
func (f *Face) sealed(s *session, st *stream) string {
	if len(st.requests) != 1 || st.requests[0].msg.Method != legacy2025.MethodTasksResult {
		return ""
	}
	msg := &st.requests[0].msg
	var payload seal.Fields
	payload.String(string(msg.ID))
	payload.String(string(msg.Params))
	if len(payload.Bytes()) > maxPlaceSize {
		return ""
	}
	id, err := f.Keys.Seal(waitPurpose(s), payload.Bytes())
	if err != nil || len(id)+1+maxSeqSize > maxPlaceSize {
		return ""
	}
	return id
}

// unseal reads the request back from the id of a stream.
func (f *Face) unseal(s *session, id string) (jsonrpc.Message, bool) {
	payload, err := f.Keys.Open(waitPurpose(s), id)
	if err != nil {
		return jsonrpc.Message{}, false
	}
	fields := seal.ReadFields(payload)
	requestID, params := fields.String(), fields.String()
	if fields.Done() != nil {
		return jsonrpc.Message{}, false
	}
	msg, err := jsonrpc.Read(jsonrpc.AppendRequest(nil, jsonrpc.ID(requestID), legacy2025.MethodTasksResult, wire.Value(params)))
	return msg, err == nil
}
