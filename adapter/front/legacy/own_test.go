package legacy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// own returns what a crossing sees as the session's own stream.
func (r *rig) own(session string) port.Stream {
	r.t.Helper()
	r.post(session, call("99", "tools/call"))
	return r.crossing.last().Own()
}

// TestOwn: the session's own stream is the newest that is open.
func TestOwn(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		if own := r.own(id); own != nil {
			t.Fatalf("a session without a stream has %v", own)
		}
		a := r.stream(http.MethodGet, id, "")
		first := r.own(id)
		b := r.stream(http.MethodGet, id, "")
		second := r.own(id)
		if first == second || !first.Connected() || !second.Connected() || !first.Asks() {
			t.Error("not the newest stream")
		}
		one, err := first.NewID(t.Context())
		if two, err2 := second.NewID(t.Context()); err != nil || err2 != nil || one == two {
			t.Errorf("ids %s, %v and %s, %v", one, err, two, err2)
		}
		if err := first.Send(note("1")); err != nil {
			t.Error(err)
		}
		a.want(event(1))
		if err := second.Send(note("2")); err != nil {
			t.Error(err)
		}
		b.want(event(2))
		b.hangUp()
		if r.own(id) != first || second.Connected() {
			t.Error("a lost stream is the newest")
		}
		a.hangUp()
		if own := r.own(id); own != nil {
			t.Errorf("a lost stream is open: %v", own)
		}
	})
}

// TestOwnNotifications: notifications and answers see it as well.
func TestOwnNotifications(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.stream(http.MethodGet, id, "")
		r.post(id, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		r.post(id, `{"jsonrpc":"2.0","id":5,"result":{}}`)
		r.crossing.mu.Lock()
		defer r.crossing.mu.Unlock()
		if len(r.crossing.silent) != 2 {
			t.Fatalf("%d exchanges", len(r.crossing.silent))
		}
		for _, x := range r.crossing.silent {
			if x.Own() == nil {
				t.Errorf("%s: no stream", x.Message.Raw)
			}
		}
	})
}

// TestResumeOwn: messages for this very stream wait for its client, others go to
// the next stream, and none is told twice (A-L16).
func TestResumeOwn(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.stream(http.MethodGet, id, "")
		own, push := r.own(id), r.crossing.subs[0].Push
		push("a", note("1"))
		a.want(event(1))
		push("a", note("2")) // is being written, and nobody reads
		synctest.Wait()
		push("a", note("3"))
		if err := own.Send(note("4")); err != nil {
			t.Error(err)
		}
		push("a", note("5"))
		a.hangUp()
		if own.Connected() {
			t.Error("a lost stream is connected")
		}
		if err := own.Send(note("6")); err != nil {
			t.Error(err)
		}
		b := r.stream(http.MethodGet, id, "")
		b.want(event(5))
		time.Sleep(20 * time.Second)
		again := r.resume(id, a.last)
		again.want(event(2), event(4), event(6))
		if !own.Connected() || r.own(id) != own {
			t.Error("a resumed stream is not the session's newest")
		}
		push("a", note("7"))
		again.want(event(7))
		again.hangUp()
		push("a", note("8"))
		b.want(keepAlive, event(8))
		if err := own.Send(note("9")); err != nil {
			t.Error(err)
		}
		r.resume(id, of(a.last, 3)).want(event(4), event(6), event(7), event(9))
	})
}

// TestResumedOwnGetsPending: what waited for a stream goes to one that is resumed.
func TestResumedOwnGetsPending(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.stream(http.MethodGet, id, "")
		push := r.crossing.subs[0].Push
		push("a", note("1"))
		a.want(event(1))
		a.hangUp()
		push("a", note("2"))
		push("a", note("3"))
		a = r.resume(id, a.last)
		a.want(event(3), keepAlive)
	})
}

// TestPushWithoutKey: messages without a key are all different.
func TestPushWithoutKey(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		conn := rawRequest(t, r, http.MethodGet, id, "")
		synctest.Wait()
		push := r.crossing.subs[0].Push
		for i := range 257 { // too many for a client that does not read
			key := ""
			if i%2 == 1 {
				key = "k"
			}
			push(key, note(fmt.Sprint(i)))
		}
		conn.hangUp()
		push("", note("257"))
		s := r.stream(http.MethodGet, id, "")
		for i := 0; i < 256; i += 2 {
			s.want(event(i))
			if i == 254 {
				s.want(event(255))
			}
		}
		s.want(event(256), event(257), keepAlive)
	})
}

// TestOwnInTime: a stream whose client does not come back is gone.
func TestOwnInTime(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.stream(http.MethodGet, id, "")
		own := r.own(id)
		r.crossing.subs[0].Push("a", note("1"))
		a.want(event(1))
		a.hangUp()
		time.Sleep(window - time.Second)
		select {
		case <-own.Gone():
			t.Error("gone too early")
		default:
		}
		if err := own.Send(note("2")); err != nil {
			t.Error(err)
		}
		lost := time.Now()
		<-own.Gone()
		if got := time.Since(lost); got != time.Second {
			t.Errorf("gone %v later", got)
		}
		if err := own.Send(note("3")); err == nil {
			t.Error("a message was taken for a stream that is gone")
		}
		r.refuses(id, a.last)
		b := r.stream(http.MethodGet, id, "")
		b.want(keepAlive)
	})
}

// TestOwnEnds: the end of its session, or of the bridge, ends a stream.
func TestOwnEnds(t *testing.T) {
	for name, end := range map[string]func(*rig, string){
		"A-L11 deleted": func(r *rig, id string) { r.do(http.MethodDelete, id, "") },
		"closed":        func(r *rig, _ string) { _ = r.face.Close(r.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				a, b := r.stream(http.MethodGet, id, ""), r.stream(http.MethodGet, id, "")
				own := r.own(id)
				b.hangUp()
				begin := time.Now()
				end(r, id)
				a.want("EOF")
				<-own.Gone()
				if got := time.Since(begin); got != 0 {
					t.Errorf("gone %v later", got)
				}
				if err := own.Send(note("1")); err == nil {
					t.Error("a message was taken")
				}
			})
		})
	}
}

// TestUnknownStreamIsGone: an older client that has got nothing on its stream
// cannot come back to it.
func TestUnknownStreamIsGone(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.openVersion("2025-06-18")
		a := r.stream(http.MethodGet, id, "")
		own := r.own(id)
		a.hangUp()
		<-own.Gone()
		b := r.stream(http.MethodGet, id, "")
		own = r.own(id)
		if err := own.Send(note("1")); err != nil {
			t.Error(err)
		}
		b.want(event(1))
		b.hangUp()
		if err := own.Send(note("2")); err != nil {
			t.Error(err)
		}
		r.resume(id, b.last).want(event(2))
	})
}

// TestSlowOwn: a message for this very stream stays there when its client is too
// far behind, and is lost by it.
func TestSlowOwn(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.stream(http.MethodGet, id, "")
		own, push := r.own(id), r.crossing.subs[0].Push
		push("", note("0"))
		a.want(event(0))
		for range 257 {
			push("k", note("1")) // one is being written
			synctest.Wait()
		}
		if err := own.Send(note("2")); err != nil || own.Connected() {
			t.Errorf("a slow client is still connected (%v)", err)
		}
		a.hangUp()
		r.stream(http.MethodGet, id, "").want(event(1), keepAlive)
		r.resume(id, a.last).want(event(1), event(2))
	})
}

// TestSlowOwnSize: how far a client may be behind is also a matter of size.
func TestSlowOwnSize(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		rawRequest(t, r, http.MethodGet, id, "")
		synctest.Wait()
		push := r.crossing.subs[0].Push
		own := r.own(id)
		for i := range 3 {
			push(fmt.Sprint(i), note(`"`+strings.Repeat("x", 600<<10)+`"`))
			if got, want := own.Connected(), i < 2; got != want {
				t.Errorf("connected after %d messages: %v", i+1, got)
			}
		}
	})
}

// TestResumedBySlowClient: what a client has not read again yet is not dropped for
// what is new.
func TestResumedBySlowClient(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.stream(http.MethodGet, id, "")
		push := r.crossing.subs[0].Push
		for i := range 512 {
			push("", note(fmt.Sprint(i)))
			a.want(event(i))
		}
		a.hangUp()
		a = r.resume(id, a.primed)
		synctest.Wait()
		for i := range 200 {
			push("", note(fmt.Sprint(512+i)))
		}
		for i := range 712 {
			a.want(event(i))
		}
	})
}
