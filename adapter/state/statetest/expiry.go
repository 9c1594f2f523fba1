package statetest

import (
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

var expiryCases = []testCase{
	{"a record lives until its instant and not at it", func(f *fixture) {
		f.put(state.Record{Key: "k", Expires: f.in(Life)})
		f.clock.Advance(Life - f.clock.Slack())
		f.get("k")
		f.clock.Advance(f.clock.Slack())
		f.absent("k")
	}},
	{"a record that has expired already is written and not found", func(f *fixture) {
		for _, expires := range []time.Time{f.clock.Now(), f.clock.Now().Add(-time.Hour), time.Unix(0, 0), time.Unix(-5, 0)} {
			f.put(state.Record{Key: "k", Expires: expires, Owner: "o"})
			f.absent("k")
			f.equal("index", f.keys("o", 10), []string(nil))
		}
	}},
	{"an expired record counts as absent for conditions", func(f *fixture) {
		rev := f.put(state.Record{Key: "k", Expires: f.in(Life)})
		f.clock.Advance(Life)
		f.refusePut(state.Record{Key: "k"}, state.IfRev(rev), state.ErrConflict)
		f.delete("k", state.IfAbsent)
		if err := f.store.Delete(f.Context(), "k", state.IfRev(rev)); err == nil {
			f.Fatal("an expired record was deleted at its revision")
		}
		f.putIf(state.Record{Key: "k"}, state.IfAbsent)
		f.get("k")
	}},
	{"a later write moves or removes the expiry", func(f *fixture) {
		f.put(state.Record{Key: "moved", Expires: f.in(Life)})
		f.put(state.Record{Key: "removed", Expires: f.in(Life)})
		f.put(state.Record{Key: "moved", Expires: f.in(10 * Life)})
		f.put(state.Record{Key: "removed"})
		f.clock.Advance(Life)
		f.get("moved")
		f.clock.Advance(10 * Life)
		f.absent("moved")
		f.get("removed")
	}},
	{"an expired record leaves the list and does not shorten a page", func(f *fixture) {
		soon := f.in(Life)
		f.put(state.Record{Key: "1", Owner: "o", Order: "1", Expires: soon})
		f.put(state.Record{Key: "2", Owner: "o", Order: "2"})
		f.put(state.Record{Key: "3", Owner: "o", Order: "3", Expires: soon})
		f.put(state.Record{Key: "4", Owner: "o", Order: "4"})
		f.equal("all", f.keys("o", 10), []string{"1", "2", "3", "4"})
		f.clock.Advance(Life)
		f.equal("length of the page", len(f.list("o", state.Pos{}, 2)), 2)
		f.equal("live", f.keys("o", 2), []string{"2", "4"})
	}},
	{"a record whose expiry moves stays listed beyond the first one", func(f *fixture) {
		for _, later := range []time.Time{f.in(10 * Life), {}} {
			f.put(state.Record{Key: "k", Owner: "o", Order: "1", Expires: f.in(Life)})
			f.put(state.Record{Key: "k", Owner: "o", Order: "1", Expires: later})
			f.clock.Advance(2 * Life)
			f.put(state.Record{Key: "other", Owner: "o", Order: "2", Expires: f.in(Life)})
			f.equal("keys", f.keys("o", 5), []string{"k", "other"})
		}
	}},
	{"a refused write does not shorten the life of what it found", func(f *fixture) {
		f.put(state.Record{Key: "k", Owner: "o", Order: "1", Expires: f.in(10 * Life)})
		f.refusePut(state.Record{Key: "k", Owner: "o", Order: "1", Expires: f.in(Life)}, state.IfAbsent, state.ErrConflict)
		f.clock.Advance(3 * Life)
		f.put(state.Record{Key: "other", Owner: "o", Order: "2"})
		f.equal("keys", f.keys("o", 5), []string{"k", "other"})
	}},
	{"a record that expired can be written again at its place", func(f *fixture) {
		for range 3 {
			f.putIf(state.Record{Key: "k", Owner: "o", Order: "1", Expires: f.in(Life)}, state.IfAbsent)
			f.equal("keys", f.keys("o", 5), []string{"k"})
			f.clock.Advance(2 * Life)
			f.equal("keys", f.keys("o", 5), []string(nil))
		}
	}},
	{"pages are full among many that have expired", func(f *fixture) {
		const each = 200
		var live []string
		for i := range each {
			order := fmt.Sprintf("%04d", i)
			f.put(state.Record{Key: "dead" + order, Owner: "o", Order: order, Expires: f.in(Life)})
			if i%7 == 0 {
				f.put(state.Record{Key: "live" + order, Owner: "o", Order: order})
				live = append(live, "live"+order)
			}
		}
		f.clock.Advance(2 * Life)
		for _, size := range []int{1, 10, len(live), 1000} {
			f.equal(fmt.Sprintf("live by %d", size), f.keys("o", size), live)
		}
	}},
}
