package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// judge proves credentials as it is told.
type judge struct {
	mu     sync.Mutex
	proven bool  // without a question
	err    error // of a question
	takes  time.Duration
	asked  int
}

func (j *judge) Proven(string, port.Caller) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.proven
}

func (j *judge) Require(ctx context.Context, _ string, _ port.Caller) error {
	j.mu.Lock()
	proven, takes := j.proven, j.takes
	if !proven {
		j.asked++
	}
	j.mu.Unlock()
	if proven {
		return nil
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.proven = j.err == nil
	return j.err
}

// revoke has the credential refused from now on.
func (j *judge) revoke() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.proven, j.err = false, errRevoked
}

// age has the proof grow old.
func (j *judge) age() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.proven = false
}

func (j *judge) questions() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.asked
	j.asked = 0
	return n
}

var errRevoked = &port.UpstreamError{Op: "server/discover", Status: 401, Err: errors.New("credential refused")}

// held is a crossing that answers everything itself.
type held struct {
	port.Crossing

	mu     sync.Mutex
	served []string
	do     func(ctx context.Context, x *port.Exchange) port.Outcome
	sub    port.Subscriber
	params error
}

func (h *held) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	h.mu.Lock()
	h.served = append(h.served, x.Message.Method)
	do := h.do
	h.mu.Unlock()
	if do == nil {
		return port.Outcome{Result: `{"held":true}`}
	}
	return do(ctx, x)
}

func (h *held) Answer(_ context.Context, x *port.Exchange) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.served = append(h.served, "answer "+string(x.Message.ID))
	return nil
}

func (h *held) Attach(sub port.Subscriber) func() {
	h.sub = sub
	return func() {}
}

func (h *held) CheckParams(context.Context, *port.Exchange, func(string) []string) error {
	return h.params
}

func (h *held) done() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	done := h.served
	h.served = nil
	return done
}

func proven(t *testing.T, test func(t *testing.T, j *judge, h *held, p *bridge.Proven)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, h := &judge{}, &held{}
		p := bridge.NewProven(h, j)
		test(t, j, h, p)
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func heldRequest(method string, params wire.Value) (*port.Exchange, *client) {
	s := &client{asks: true}
	return &port.Exchange{
		Backend: "quarry", Stream: s, Push: func(string, []byte) {},
		Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: method, Params: params},
	}, s
}

// TestNothingHeldWithoutProof: every method of the table gets what the bridge holds after
// the proof only, unless it goes to the backend; and what changes something has not
// done so before.
func TestNothingHeldWithoutProof(t *testing.T) {
	forwarded := []string{
		"tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
		"completion/complete", "com.acme/dig",
	}
	reads := []string{"initialize", "server/discover", "logging/setLevel", "tasks/get", "tasks/list", "tasks/result"}
	for _, row := range append(mapping.Table(), mapping.Row{Method: "com.acme/dig"}) {
		for _, params := range []wire.Value{`{}`, `{"requestState":"s"}`, `{"inputResponses":{}}`} {
			t.Run(row.Method+" "+string(params), func(t *testing.T) {
				proven(t, func(t *testing.T, j *judge, h *held, p *bridge.Proven) {
					j.revoke()
					x, _ := heldRequest(row.Method, params)
					out := p.Request(t.Context(), x)
					retry := params != `{}`
					switch served := len(h.done()); {
					case slices.Contains(forwarded, row.Method) && !retry:
						if out.Err != nil || served != 1 || j.questions() != 0 {
							t.Errorf("not forwarded: %+v", out)
						}
						return
					case !errors.Is(out.Err, errRevoked) || out.Result.Present():
						t.Errorf("told %s, %v", out.Result, out.Err)
					case served == 1 && (retry || !slices.Contains(reads, row.Method)):
						t.Error("served before the proof")
					}
				})
			})
		}
	}
}

// TestProofAfterAWait: what took long is proven once it is there, also when it is an
// error; that the backend has failed is nothing held.
func TestProofAfterAWait(t *testing.T) {
	for name, tt := range map[string]struct {
		out  port.Outcome
		says bool
	}{
		"a result":         {port.Outcome{Result: `{}`}, true},
		"a task's error":   {port.Fail(jsonrpc.NewError(-7, "of a task")), true},
		"a failed backend": {port.Fail(&port.UpstreamError{Op: "x", Status: 502, Err: jsonrpc.NewError(-7, "m")}), false},
		"a lost one":       {port.Fail(errors.New("lost")), false},
	} {
		t.Run(name, func(t *testing.T) {
			proven(t, func(t *testing.T, j *judge, h *held, p *bridge.Proven) {
				h.do = func(context.Context, *port.Exchange) port.Outcome {
					j.revoke()
					return tt.out
				}
				x, _ := heldRequest("tasks/result", `{"taskId":"t"}`)
				got := p.Request(t.Context(), x)
				if tt.says != errors.Is(got.Err, errRevoked) || !tt.says && got != tt.out {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// TestStreamsAreProven: a stream that outlives the proof tells nothing without another,
// neither that of the exchange nor one of the session's own.
func TestStreamsAreProven(t *testing.T) {
	proven(t, func(t *testing.T, j *judge, h *held, p *bridge.Proven) {
		x, stream := heldRequest("tasks/result", `{"taskId":"t"}`)
		own := &client{asks: true}
		x.Own = func() port.Stream { return own }
		var later port.Stream
		h.do = func(_ context.Context, x *port.Exchange) port.Outcome {
			later = x.Own()
			for i, s := range []port.Stream{x.Stream, later} {
				if err := s.Send([]byte(fmt.Sprintf("%d proven", i))); err != nil {
					t.Error(err)
				}
			}
			j.revoke()
			if err := x.Stream.Send([]byte("secret")); !errors.Is(err, errRevoked) {
				t.Errorf("Send: %v", err)
			}
			return port.Outcome{Result: `{}`}
		}
		p.Request(t.Context(), x)
		if err := later.Send([]byte("secret")); !errors.Is(err, errRevoked) {
			t.Errorf("Send: %v", err)
		}
		want(t, "the stream", stream.told(), "0 proven")
		want(t, "the session's own", own.told(), "1 proven")
		x.Own = func() port.Stream { return nil }
		h.do = func(_ context.Context, x *port.Exchange) port.Outcome {
			if s := x.Own(); s != nil {
				t.Errorf("a session without a stream has %v", s)
			}
			return port.Outcome{}
		}
		p.Request(t.Context(), x)
	})
}

// TestPushesAreProven: what is pushed to a session waits for the proof, in its order, and
// is dropped without one. It never blocks.
func TestPushesAreProven(t *testing.T) {
	proven(t, func(t *testing.T, j *judge, h *held, p *bridge.Proven) {
		var mu sync.Mutex
		var pushed []string
		told := func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			out := pushed
			pushed = nil
			return out
		}
		p.Attach(port.Subscriber{Backend: "quarry", Push: func(key string, msg []byte) {
			mu.Lock()
			defer mu.Unlock()
			pushed = append(pushed, key+" "+string(msg))
		}})
		push := func(key, msg string) { h.sub.Push(key, []byte(msg)) }
		j.proven = true
		push("a", "1")
		want(t, "proven", told(), "a 1")
		j.age()
		j.takes = time.Second
		push("a", "2")
		push("b", "3")
		push("a", "4")
		push("", "5")
		push("", "6")
		want(t, "in between", told())
		time.Sleep(time.Second)
		want(t, "proven again", told(), "b 3", "a 4", " 5", " 6")
		if n := j.questions(); n != 1 {
			t.Errorf("%d questions", n)
		}
		j.revoke()
		push("a", "secret")
		time.Sleep(time.Second)
		want(t, "revoked", told())
		for i := range 1000 { // and what waits is bounded
			push("", fmt.Sprint(i))
		}
		j.mu.Lock()
		j.err = nil
		j.mu.Unlock()
		time.Sleep(time.Second)
		if got := told(); len(got) != 256 || got[255] != " 999" {
			t.Errorf("%d messages", len(got))
		}
	})
}

// TestAnswersAreProven: an answer of whoever is not who he was is not taken.
func TestAnswersAreProven(t *testing.T) {
	proven(t, func(t *testing.T, j *judge, h *held, p *bridge.Proven) {
		x, _ := heldRequest("", "")
		x.Message = jsonrpc.Message{Kind: jsonrpc.KindResult, ID: "7", Result: "{}"}
		if err := p.Answer(t.Context(), x); err != nil {
			t.Error(err)
		}
		j.revoke()
		if err := p.Answer(t.Context(), x); !errors.Is(err, errRevoked) {
			t.Errorf("Answer: %v", err)
		}
		want(t, "the crossing", h.done(), "answer 7")
	})
}

// TestWhatIsKnownOfToolsIsProven: that arguments do not fit is said of a list that the
// bridge remembers. That they do says nothing.
func TestWhatIsKnownOfToolsIsProven(t *testing.T) {
	proven(t, func(t *testing.T, j *judge, h *held, p *bridge.Proven) {
		j.revoke()
		x, _ := heldRequest("tools/call", `{"name":"dig"}`)
		if err := p.CheckParams(t.Context(), x, nil); err != nil || j.questions() != 0 {
			t.Errorf("nothing wrong: %v", err)
		}
		h.params = jsonrpc.NewError(-32020, "want a header")
		if err := p.CheckParams(t.Context(), x, nil); !errors.Is(err, errRevoked) {
			t.Errorf("revoked: %v", err)
		}
		j.mu.Lock()
		j.err = nil
		j.mu.Unlock()
		if err := p.CheckParams(t.Context(), x, nil); !errors.Is(err, h.params) {
			t.Errorf("proven: %v", err)
		}
	})
}
