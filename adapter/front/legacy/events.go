package legacy

import (
	"time"

	"github.com/gin-gonic/gin"
	"github.com/tmaxmax/go-sse"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

// retry is how long a client waits before it comes back to a stream.
const retry = time.Second

// openEvents sends the headers of an event stream, and with them, unless place is
// empty, an event without a message, from whose id on a client can come back to
// the stream (A-L15).
func openEvents(c *gin.Context, f *Face, place string) (*edge.Events, error) {
	ev := edge.NewEvents(c, f.Env)
	if place == "" {
		ev.Flush()
		return ev, nil
	}
	m := sse.Message{ID: sse.ID(place), Retry: retry}
	m.AppendData("\n") // one empty line
	return ev, ev.Send(&m)
}
