package demo_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/demo"
)

// Spec 2025-11-25 basic/transports, "Resumability and Redelivery".
func TestLegacyResumesACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		f := p.open("c", "tools/call", toolParams("count", object{"steps": 5}))
		first := f.event()
		if first.id == "" || first.retry == "" || first.msg != nil {
			t.Fatalf("the first event is %v", first)
		}
		one := f.event()
		f.hangUp()
		<-f.done
		time.Sleep(time.Minute) // the call goes on without anyone
		replay := func(last string) (ids []string, final object) {
			f := p.listen(last)
			for ev := f.event(); ev.id != ""; ev = f.event() {
				ids = append(ids, ev.id)
				final = ev.msg
			}
			return ids, final
		}
		all, final := replay(first.id)
		if final["id"] != "c" || final["result"] == nil || len(all) < 4 || all[0] != one.id {
			t.Errorf("%v %v", all, final)
		}
		rest, again := replay(one.id)
		if diff := cmp.Diff(all[1:], rest); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(final, again); diff != "" {
			t.Error(diff)
		}
		if ids, _ := replay(all[len(all)-1]); len(ids) != 0 {
			t.Errorf("after the end: %v", ids)
		}
		if p.l.Runs("count") != 1 {
			t.Errorf("it ran %d times", p.l.Runs("count"))
		}
		other := join(t, p.l)
		rec := httptest.NewRecorder()
		r := other.request(t.Context(), "GET", "")
		r.Header.Set("Last-Event-ID", all[0])
		p.l.ServeHTTP(rec, r)
		if rec.Code != 400 {
			t.Errorf("another session resumes it: HTTP %d %s", rec.Code, rec.Body)
		}
	})
}

func TestLegacyHangsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		f := p.open(1, "tools/call", toolParams("hang_up", nil))
		prime := f.event()
		if ev := f.event(); ev.id != "" {
			t.Fatalf("it did not hang up: %v", ev)
		}
		res, _ := p.listen(prime.id).message()["result"].(object)
		if legacyText(t, res) != "still here" {
			t.Errorf("%v", res)
		}
	})
}

func TestLegacyGivesUpACallNobodyComesBackFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		f := p.open(1, "tools/call", toolParams("ask", nil))
		prime := f.event()
		id, _ := f.wants("elicitation/create")
		f.hangUp()
		<-f.done
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		rec := httptest.NewRecorder()
		r := p.request(t.Context(), "GET", "")
		r.Header.Set("Last-Event-ID", prime.id)
		p.l.ServeHTTP(rec, r)
		if rec.Code != 400 {
			t.Errorf("the stream is still there: HTTP %d", rec.Code)
		}
		p.answer(id, accept(object{})) // too late, and no mistake
		if again := p.open(1, "tools/call", toolParams("grind", object{"ms": 1})); again.message()["result"] == nil {
			t.Error("the id is still in use")
		}
	})
}

func TestLegacyAStreamHasOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		a := p.open(1, "tools/call", toolParams("grind", object{"ms": 1000}))
		prime := a.event()
		b := p.listen(prime.id)
		synctest.Wait()
		<-a.done
		if msg := a.message(); msg != nil {
			t.Errorf("the first reader got %v", msg)
		}
		if b.message()["result"] == nil {
			t.Error("the second got nothing")
		}
	})
}

// Spec "Multiple Connections": a message goes to one stream.
func TestLegacyListens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLegacy(t, demo.Options{})
		p, other := join(t, l), join(t, l)
		silent, _ := initialize(t, l, newest, object{})
		mute := silent.listen("") // not initialized: hears nothing yet
		old := p.listen("")
		synctest.Wait()
		young, third := p.listen(""), other.listen("")
		synctest.Wait()
		for _, list := range []string{"tools", "prompts", "resources"} {
			p.call("announce", object{"list": list})
			for _, f := range []flow{young, third} {
				if id, params := f.wants("notifications/" + list + "/list_changed"); id != nil || params != nil {
					t.Errorf("%v %v", id, params)
				}
			}
		}
		p.ok("resources/subscribe", object{"uri": "demo://clock"})
		p.ok("resources/subscribe", object{"uri": "demo://readme"})
		began := time.Now()
		if _, params := young.wants("notifications/resources/updated"); params["uri"] != "demo://clock" || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", params, time.Since(began))
		}
		p.ok("resources/unsubscribe", object{"uri": "demo://clock"})
		young.hangUp()
		<-young.done
		p.call("announce", nil)
		old.wants("notifications/tools/list_changed")
		if ev := mute.event(); ev.id == "" || ev.msg != nil {
			t.Errorf("the first event: %v", ev)
		}
		synctest.Wait()
		if old.pending() != 0 || mute.pending() != 0 {
			t.Error("something was sent to a stream it was not meant for")
		}
		p.do("resources/subscribe", object{"uri": "demo://nothing"}).fails(200, -32002)
	})
}

func TestLegacyKeepsWhatAListenerMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		f := p.listen("")
		prime := f.event()
		f.hangUp()
		<-f.done
		p.call("announce", nil)
		back := p.listen(prime.id)
		back.wants("notifications/tools/list_changed")
		back.hangUp()
		<-back.done
		time.Sleep(6 * time.Minute)
		p.call("announce", nil) // nobody left to tell
		rec := httptest.NewRecorder()
		r := p.request(t.Context(), "GET", "")
		r.Header.Set("Last-Event-ID", prime.id)
		p.l.ServeHTTP(rec, r)
		if rec.Code != 400 {
			t.Errorf("HTTP %d", rec.Code)
		}
	})
}

func TestLegacyReplayIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		p.ok("logging/setLevel", object{"level": "debug"})
		params := toolParams("count", object{"steps": 1000})
		params["_meta"] = object{"progressToken": 1}
		f := p.open(1, "tools/call", params)
		prime := f.event()
		f.hangUp()
		<-f.done
		time.Sleep(2 * time.Minute)
		rec := httptest.NewRecorder()
		r := p.request(t.Context(), "GET", "")
		r.Header.Set("Last-Event-ID", prime.id)
		p.l.ServeHTTP(rec, r)
		if rec.Code != 400 {
			t.Errorf("2000 events were kept: HTTP %d", rec.Code)
		}
	})
}

func TestLegacyKeepsAStreamOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := join(t, newLegacy(t, demo.Options{}))
		f := p.listen("")
		time.Sleep(time.Minute)
		synctest.Wait()
		comments := 0
		for f.pending() > 0 {
			if strings.HasPrefix(<-f.chunks, ":") {
				comments++
			}
		}
		if comments != 4 { // every 15 s
			t.Errorf("%d comments in a minute", comments)
		}
	})
}
