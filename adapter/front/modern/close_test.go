package modern_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/front/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const closing = "the bridge is shutting down"

// acknowledge serves a subscription as a crossing does: it ends with a result when
// the bridge stops, and with nothing when the client leaves.
func acknowledge(ended chan<- error) script {
	return func(ctx context.Context, x *port.Exchange) port.Outcome {
		id := string(x.Message.ID)
		if err := x.Stream.Send([]byte(`{"ack":` + id + `}`)); err != nil {
			return port.Fail(err)
		}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		if errors.Is(context.Cause(ctx), port.ErrDraining) {
			return port.Outcome{Result: wire.Value(`{"of":` + id + `}`)}
		}
		return port.Fail(context.Cause(ctx))
	}
}

// TestDrain: subscriptions end with a result (§3.5 B4) and are not begun anew; calls
// go on.
func TestDrain(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		ended := make(chan error, 10)
		r.crossing.on("subscriptions/listen", acknowledge(ended))
		r.crossing.on("tools/call", after(time.Minute))
		s := r.stream(listen("77"))
		s.want(data(`{"ack":77}`))
		called := r.background(call("2", "Accept: application/json"))
		r.face.Drain()
		s.want(data(result("77", `{"of":77}`)), "EOF")
		a := r.do(listen("3"))
		wantAnswer(t, a, http.StatusServiceUnavailable, failed("3", "-32603", closing, ""))
		if a.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		wantAnswer(t, r.do(ask("4", "tools/list", "")), 200, served("4", "tools/list"))
		wantAnswer(t, <-called, 200, result("2", "{}"))
		r.face.Drain() // again
	})
}

// TestClose: everything ends, nothing begins.
func TestClose(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		listening := make(chan error, 10)
		r.crossing.on("subscriptions/listen", acknowledge(listening))
		ended := r.crossing.hang("tools/call")
		s := r.stream(listen(`"L1"`))
		s.want(data(`{"ack":"L1"}`))
		a, b := r.background(call("1")), r.background(call("2", "Accept: text/event-stream"))
		r.crossing.on("tools/list", func(ctx context.Context, _ *port.Exchange) port.Outcome {
			<-ctx.Done()
			return port.Outcome{Result: "{}"} // made it
		})
		made := r.background(ask("3", "tools/list", ""))
		if err := r.face.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(ended) != 2 || len(listening) != 1 {
			t.Errorf("%d calls and %d subscriptions have ended when Close returns", len(ended), len(listening))
		}
		s.want(data(result(`"L1"`, `{"of":"L1"}`)), "EOF")
		wantAnswer(t, <-a, 200, failed("1", "-32603", closing, ""))
		wantAnswer(t, <-b, 200, data(failed("2", "-32603", closing, ""))+"\n\n")
		wantAnswer(t, <-made, 200, result("3", "{}"))
		after := r.do(ask("4", "tools/list", ""))
		wantAnswer(t, after, http.StatusServiceUnavailable, failed("", "-32603", closing, ""))
		if after.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		if log := r.logs.String(); log != "" {
			t.Errorf("logged as failures: %s", log)
		}
	})
}

// TestCloseHasADeadline: work that does not end holds Close no longer than allowed
// (G-8).
func TestCloseHasADeadline(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		r.crossing.on("tools/call", func(ctx context.Context, _ *port.Exchange) port.Outcome {
			<-ctx.Done() // told, but deaf
			<-release
			return port.Outcome{Result: "{}"}
		})
		a := r.background(call("1"))
		late := errors.New("late")
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, late)
		defer cancel()
		if err := r.face.Close(ctx); !errors.Is(err, late) {
			t.Errorf("close: %v, want the cause", err)
		}
		close(release)
		wantAnswer(t, <-a, 200, result("1", "{}"))
		if err := r.face.Close(t.Context()); err != nil {
			t.Errorf("close again: %v", err)
		}
	})
}

// TestTooManyRequests: all requests together are bounded, and what has ended makes
// room (G-8).
func TestTooManyRequests(t *testing.T) {
	bubble(t, func(o *modern.Options) { o.Limits.Requests = 2 }, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", after(time.Minute))
		first, second := r.background(call("1", "Accept: application/json")), r.background(call("2", "Accept: application/json"))
		a := r.do(ask("3", "tools/list", ""))
		wantAnswer(t, a, http.StatusServiceUnavailable, failed("", "-32603", "too many requests at once; try again later", ""))
		if a.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		<-first
		<-second
		wantAnswer(t, r.do(ask("3", "tools/list", "")), 200, served("3", "tools/list"))
	})
}

// TestTooManySubscriptions: those of one principal, or of one address that shows no
// credential, are bounded; whoever closes one may open another (G-8).
func TestTooManySubscriptions(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		ended := make(chan error, 100)
		r.crossing.on("subscriptions/listen", acknowledge(ended))
		for _, who := range []string{"", "Bearer a", "Bearer b"} {
			open := make([]*stream, 2)
			for i := range open {
				open[i] = r.stream(listen("1", "Authorization: "+who))
				open[i].want(data(`{"ack":1}`))
			}
			a := r.do(listen("2", "Authorization: "+who))
			wantAnswer(t, a, http.StatusServiceUnavailable, failed("2", "-32603", "too many subscriptions; try again later", ""))
			if a.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			wantAnswer(t, r.do(call("3", "Authorization: "+who)), 200, served("3", "tools/call"))
			open[0].hangUp()
			again := r.stream(listen("4", "Authorization: "+who))
			again.want(data(`{"ack":4}`))
		}
		if len(ended) != 3 {
			t.Errorf("%d subscriptions have ended", len(ended))
		}
	})
}

// TestTooManyRequestsOfOne: the requests of one principal are bounded, and those of one
// address whatever it calls itself.
func TestTooManyRequestsOfOne(t *testing.T) {
	bubble(t, func(o *modern.Options) { o.Limits.RequestsPerCaller = 3 }, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", after(time.Minute))
		var all []<-chan answer
		for _, who := range []string{"a", "b", "c"} {
			all = append(all, r.background(call("1", "Accept: application/json", "Authorization: Bearer "+who)))
		}
		a := r.do(ask("2", "tools/list", ""))
		wantAnswer(t, a, http.StatusServiceUnavailable, failed("2", "-32603", "too many requests at once; try again later", ""))
		if a.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
		}
		for _, answered := range all {
			<-answered
		}
		wantAnswer(t, r.do(ask("2", "tools/list", "")), 200, served("2", "tools/list"))
	})
}

// TestTooManyBytes: the messages being handled are bounded together.
func TestTooManyBytes(t *testing.T) {
	bubble(t, func(o *modern.Options) { o.Budget = edge.NewBudget(300, 300) }, func(t *testing.T, r *rig) {
		r.crossing.on("tools/call", after(time.Minute))
		first := r.background(call("1", "Accept: application/json"))
		wantAnswer(t, r.do(ask("2", "tools/list", "")), http.StatusServiceUnavailable, failed("", "-32603", "too many messages at once; try again", ""))
		<-first
		wantAnswer(t, r.do(ask("2", "tools/list", "")), 200, served("2", "tools/list"))
	})
}

// TestManyRequests: thousands of streams that are cut, ended or answered leave no
// goroutine behind, which the bubble would report, and no count.
func TestManyRequests(t *testing.T) {
	const n = 300
	tune := func(o *modern.Options) { o.Limits.Requests, o.Limits.StreamsPerCaller = n+1, n }
	bubble(t, tune, func(t *testing.T, r *rig) {
		ended := make(chan error, 3*n)
		r.crossing.on("subscriptions/listen", acknowledge(ended))
		for range 3 {
			open := make([]*stream, n)
			for i := range open {
				open[i] = r.stream(listen(fmt.Sprint(i)))
				open[i].want(data(fmt.Sprintf(`{"ack":%d}`, i)))
			}
			if a := r.do(listen("0")); a.status != http.StatusServiceUnavailable {
				t.Errorf("one more: %d", a.status)
			}
			for _, s := range open {
				s.hangUp()
			}
			synctest.Wait()
		}
		if len(ended) != 3*n {
			t.Errorf("%d have ended", len(ended))
		}
	})
}
