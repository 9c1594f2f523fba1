package legacy_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/front/legacy"
)

func event(n int) string { return data(string(note(fmt.Sprint(n)))) }

// TestPush: each message goes to exactly one stream, the newest (A-L16).
func TestPush(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.stream(http.MethodGet, id, "")
		push := r.crossing.subs[0].Push
		push("k", note("1"))
		push("k", note("2")) // on an open stream nothing is replaced
		a.want(event(1), event(2))
		b := r.stream(http.MethodGet, id, "")
		push("k", note("3"))
		b.want(event(3))
		b.hangUp()
		push("k", note("4"))
		a.want(event(4))
		if sub := r.crossing.subs[0]; sub.Backend != backend || sub.Caller.Session != id {
			t.Errorf("attached as %+v", sub)
		}
	})
}

// TestPending: without a stream the newest message of each key waits, up to a
// bound (§3.5 A4).
func TestPending(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.stream(http.MethodGet, id, "")
		push := r.crossing.subs[0].Push
		a.hangUp()
		push("tools", note("1"))
		push("prompts", note("2"))
		push("tools", note("3"))
		b := r.stream(http.MethodGet, id, "")
		b.want(event(2), event(3), keepAlive)
		b.hangUp()
		for i := range 300 {
			push(fmt.Sprint(i), note(fmt.Sprint(i)))
		}
		c := r.stream(http.MethodGet, id, "")
		for i := 300 - 256; i < 300; i++ {
			c.want(event(i))
		}
		c.want(keepAlive)
		if attached, detached, _ := r.crossing.counts(); attached != 1 || detached != 0 {
			t.Errorf("attached %d times, detached %d times", attached, detached)
		}
	})
}

// TestLargePending: what waits for a stream is bounded in bytes as well; the newest
// message always waits.
func TestLargePending(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		a := r.stream(http.MethodGet, id, "")
		push := r.crossing.subs[0].Push
		a.hangUp()
		for i := range 4 {
			push(fmt.Sprint(i), padded(i, 400<<10))
		}
		b := r.stream(http.MethodGet, id, "")
		b.want(data(string(padded(2, 400<<10))), data(string(padded(3, 400<<10))), keepAlive)
		b.hangUp()
		push("small", note("1"))
		push("huge", padded(5, 2<<20))
		c := r.stream(http.MethodGet, id, "")
		c.want(data(string(padded(5, 2<<20))), keepAlive)
	})
}

// TestUnwrittenMessagesWait: what a lost stream has not written goes to the next
// one.
func TestUnwrittenMessagesWait(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		conn := rawRequest(t, r, http.MethodGet, id, "") // does not even read the headers
		synctest.Wait()
		push := r.crossing.subs[0].Push
		for i := range 3 {
			push(fmt.Sprint(i), note(fmt.Sprint(i)))
		}
		_ = conn.Close()
		synctest.Wait()
		r.stream(http.MethodGet, id, "").want(event(0), event(1), event(2), keepAlive)
	})
}

// TestSlowStream: a client that falls too far behind on a stream loses the
// stream, and nothing that was not written yet.
func TestSlowStream(t *testing.T) {
	for _, other := range []bool{false, true} {
		t.Run(fmt.Sprintf("another stream %v", other), func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				id := r.open()
				var next *stream
				if other {
					next = r.stream(http.MethodGet, id, "")
				}
				rawRequest(t, r, http.MethodGet, id, "")
				synctest.Wait()
				push := r.crossing.subs[0].Push
				for i := range 257 {
					push(fmt.Sprint(i%5), note(fmt.Sprint(i)))
				}
				if !other {
					next = r.stream(http.MethodGet, id, "")
				}
				for i := 252; i < 257; i++ {
					next.want(event(i))
				}
				push("9", note("9"))
				next.want(event(9))
				time.Sleep(time.Minute)
				r.stream(http.MethodGet, id, "") // the slow one's place is free
			})
		})
	}
}

// TestSubscribeAttaches: a session that subscribes to a resource is attached even
// without a stream, so that its end is noticed (§3.5 A1, A6).
func TestSubscribeAttaches(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open()
		r.post(id, call("1", "tools/list"))
		if attached, _, _ := r.crossing.counts(); attached != 0 {
			t.Error("attached without need")
		}
		r.post(id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"ore://1"}}`)
		r.crossing.last().Push("ore://1", note("1"))
		r.stream(http.MethodGet, id, "").want(event(1))
		r.do(http.MethodDelete, id, "")
		if attached, detached, _ := r.crossing.counts(); attached != 1 || detached != 1 {
			t.Errorf("attached %d times, detached %d times", attached, detached)
		}
	})
}

// TestExpiryDetaches: an idle session leaves nothing behind (§3.5 A6).
func TestExpiryDetaches(t *testing.T) {
	bubble(t, func(o *legacy.Options) { o.Limits.Sessions = 1 }, func(t *testing.T, r *rig) {
		id := r.open()
		s := r.stream(http.MethodGet, id, "")
		push := r.crossing.subs[0].Push
		s.hangUp()
		time.Sleep(2 * idle)
		push("k", note("1")) // nobody is there; nothing breaks
		if _, detached, _ := r.crossing.counts(); detached != 1 {
			t.Errorf("detached %d times", detached)
		}
		r.open()
	})
}
