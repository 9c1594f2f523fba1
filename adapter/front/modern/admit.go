package modern

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// busy says that a client has to come back later; it is the whole answer.
func busy(c *gin.Context, seconds string, e *jsonrpc.Error) error {
	c.Header("Retry-After", seconds)
	return &port.StatusError{Status: http.StatusServiceUnavailable, Err: e}
}

var (
	errRequests = jsonrpc.NewError(jsonrpc.CodeInternal, "too many requests at once; try again later")
	errStreams  = jsonrpc.NewError(jsonrpc.CodeInternal, "too many subscriptions; try again later")
)

func closing(c *gin.Context) error { return busy(c, "5", port.RPCError(port.ErrDraining)) }

// enter counts a request that is to be handled, up to its [Face.leave].
func (f *Face) enter(c *gin.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return closing(c)
	case f.requests >= f.Limits.Requests:
		return busy(c, "1", errRequests)
	}
	f.requests++
	return nil
}

func (f *Face) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests--
}

// begin registers a stream, so that it can be ended, up to its [Face.end]. That of
// a subscription is counted. Its exchange has begun, and ends with [Face.outcome].
func (f *Face) begin(c *gin.Context, s *stream) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed, s.caller != "" && f.draining:
		return closing(c)
	case s.caller != "" && f.streams[s.caller] >= f.Limits.StreamsPerCaller:
		return busy(c, "30", errStreams)
	case !f.calls.Enter(s.who...):
		return busy(c, "1", errRequests)
	}
	f.running[s] = struct{}{}
	f.work.Add(1)
	if s.caller != "" {
		f.streams[s.caller]++
	}
	return nil
}

func (f *Face) end(s *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, s)
	f.calls.Leave(s.who...)
	if s.caller == "" {
		return
	}
	if f.streams[s.caller]--; f.streams[s.caller] == 0 {
		delete(f.streams, s.caller)
	}
}
