package adapter

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// refusing is a crossing whose backends all refuse with one error.
type refusing struct {
	port.Crossing

	err error
}

func (r refusing) Request(context.Context, *port.Exchange) port.Outcome { return port.Fail(r.err) }
func (r refusing) Answer(context.Context, *port.Exchange) error         { return r.err }
func (r refusing) CheckParams(context.Context, *port.Exchange, func(string) []string) error {
	return r.err
}

// TestIncurable: what a backend says of a credential that is not the caller's is no
// status for the caller, whichever way it comes; everything else passes as it is (A-L17).
func TestIncurable(t *testing.T) {
	t.Parallel()
	own := jsonrpc.NewError(-32000, "who are you?")
	closed := map[string]bool{"static": true}
	for name, tt := range map[string]struct {
		err     error
		backend string
		status  int
		message string
	}{
		"401 for the bridge":           {&port.UpstreamError{Op: "x", Status: 401, Err: errors.New("no")}, "static", 0, "backend answered HTTP 401"},
		"403 for the bridge":           {&port.UpstreamError{Op: "x", Status: 403, Err: errors.New("no")}, "static", 0, "backend answered HTTP 403"},
		"401 with an error of its own": {&port.UpstreamError{Op: "x", Status: 401, Err: own}, "static", 0, "who are you?"},
		"401 for the caller":           {&port.UpstreamError{Op: "x", Status: 401, Err: errors.New("no")}, "forward", 401, "backend answered HTTP 401"},
		"another status":               {&port.UpstreamError{Op: "x", Status: 500, Err: errors.New("no")}, "static", 0, "backend answered HTTP 500"},
		"another error":                {own, "static", 0, "who are you?"},
	} {
		t.Run("A-L17 "+name, func(t *testing.T) {
			t.Parallel()
			r, x := refusing{err: tt.err}, &port.Exchange{Backend: tt.backend}
			crossing := &ownCredentials{r, closed}
			for way, err := range map[string]error{
				"a request":         crossing.Request(t.Context(), x).Err,
				"its parameters":    (&ownParams{r, closed}).CheckParams(t.Context(), x, nil),
				"a client's answer": crossing.Answer(t.Context(), x),
			} {
				if got := edge.Refused(err).Status; got != tt.status {
					t.Errorf("%s: status %d, want %d", way, got, tt.status)
				}
				if got := port.RPCError(err).Message; way != "a client's answer" && got != tt.message {
					t.Errorf("%s: %q, want %q", way, got, tt.message)
				}
			}
			// The face has to know that it is the backend that did not take an answer.
			var upstream *port.UpstreamError
			if err := crossing.Answer(t.Context(), x); tt.backend == "static" && !errors.Is(tt.err, own) && (!errors.As(err, &upstream) || upstream.Status < http.StatusInternalServerError) {
				t.Errorf("an answer: %v", err)
			}
		})
	}
}
