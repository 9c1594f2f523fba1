package legacy

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// maxBatch bounds the messages of one batch.
const maxBatch = 100

// batch serves an array of messages, which only the revision 2025-03-26 has
// (§3.9). To every other session it is a message of the wrong shape.
func (f *Face) batch(c *gin.Context, backend string, room *edge.Room, body []byte, array wire.Value, shape error, accepts edge.Accepts) {
	s, l, ok := f.join(c, backend, call{body: body})
	if !ok {
		return
	}
	if s.Version != wire.Version20250326 {
		edge.WriteError(c, http.StatusBadRequest, "", jsonrpc.FromDecode(shape))
		return
	}
	messages, refused := readBatch(c, backend, array)
	if refused != nil {
		edge.WriteError(c, http.StatusBadRequest, "", refused)
		return
	}
	st, rd := newStream(l, s.Version, false), newReader(false)
	st.reader, st.memory = rd, room
	requests := make([]*exchange, len(messages))
	for i, msg := range messages {
		switch msg.Kind {
		case jsonrpc.KindRequest:
			requests[i] = st.exchange(c.Request.Context(), s, msg, accepts.EventStream)
		case jsonrpc.KindResult, jsonrpc.KindError:
			// All or nothing: once a request has begun, nothing can be refused any more.
			if err := f.Crossing.Answer(c.Request.Context(), f.outgoing(s, l, msg, c.GetHeader("Authorization"))); err != nil {
				f.refuseAnswer(c, s, err)
				return
			}
		case jsonrpc.KindNotification:
		}
	}
	f.launchAll(c, s, l, messages, requests)
	if len(st.requests) == 0 {
		c.Status(http.StatusAccepted)
		return
	}
	f.deliver(&reply{f: f, c: c, accepts: accepts, array: true}, s, st, rd)
}

// readBatch reads the messages of a batch, or refuses all of them for one.
func readBatch(c *gin.Context, backend string, array wire.Value) ([]jsonrpc.Message, *jsonrpc.Error) {
	messages, err := jsonrpc.ParseBatch(array, maxBatch)
	if err != nil {
		return nil, jsonrpc.FromDecode(err)
	}
	for i := range messages {
		if err := checkMessage(c, &messages[i], backend); err != nil {
			return nil, invalid("%s: %s", wire.Index("", i), strings.TrimPrefix(err.Message, invalidRequest))
		}
		if messages[i].Method == legacy2025.MethodInitialize {
			return nil, jsonrpc.FromDecode(wire.Wrong(fmt.Sprintf("[%d].method", i), "initialize in a message of its own"))
		}
	}
	return messages, nil
}

// launchAll serves the notifications of a batch and starts its requests, in their
// order. What is refused is answered like any other; of requests with the same id
// that is all but the first.
func (f *Face) launchAll(c *gin.Context, s *session, l *live, messages []jsonrpc.Message, requests []*exchange) {
	seen := make(map[jsonrpc.ID]bool, len(messages))
	for i, msg := range messages {
		x := requests[i]
		switch {
		case x == nil && msg.Kind == jsonrpc.KindNotification:
			f.notification(c, s, l, msg)
		case x == nil:
		case seen[msg.ID]:
			x.settle(f.response(x, port.Fail(errBusyID)))
		default:
			seen[msg.ID] = true
			if err := f.launch(x, l, s, c.GetHeader("Authorization")); err != nil {
				x.settle(f.response(x, port.Fail(err)))
			}
		}
	}
}
