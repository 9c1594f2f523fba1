package statetest

import (
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

var expiryCases = []testCase{
	{"a record lives until its instant and not at it", func(f *fixture) {
		f.put(state.Record{Key: "k", Expires: f.clock.Now().Add(time.Second)})
		f.clock.advance(time.Second - time.Millisecond)
		f.get("k")
		f.clock.advance(time.Millisecond)
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
		rev := f.put(state.Record{Key: "k", Expires: f.clock.Now().Add(time.Second)})
		f.clock.advance(time.Second)
		f.refusePut(state.Record{Key: "k"}, state.IfRev(rev), state.ErrConflict)
		f.delete("k", state.IfAbsent)
		if err := f.store.Delete(f.Context(), "k", state.IfRev(rev)); err == nil {
			f.Fatal("an expired record was deleted at its revision")
		}
		f.putIf(state.Record{Key: "k"}, state.IfAbsent)
		f.get("k")
	}},
	{"a later write moves or removes the expiry", func(f *fixture) {
		f.put(state.Record{Key: "moved", Expires: f.clock.Now().Add(time.Second)})
		f.put(state.Record{Key: "removed", Expires: f.clock.Now().Add(time.Second)})
		f.put(state.Record{Key: "moved", Expires: f.clock.Now().Add(time.Minute)})
		f.put(state.Record{Key: "removed"})
		f.clock.advance(time.Second)
		f.get("moved")
		f.clock.advance(time.Minute)
		f.absent("moved")
		f.get("removed")
	}},
	{"an expired record leaves the list and does not shorten a page", func(f *fixture) {
		soon := f.clock.Now().Add(time.Second)
		f.put(state.Record{Key: "1", Owner: "o", Order: "1", Expires: soon})
		f.put(state.Record{Key: "2", Owner: "o", Order: "2"})
		f.put(state.Record{Key: "3", Owner: "o", Order: "3", Expires: soon})
		f.put(state.Record{Key: "4", Owner: "o", Order: "4"})
		f.equal("all", f.keys("o", 10), []string{"1", "2", "3", "4"})
		f.clock.advance(time.Second)
		f.equal("length of the page", len(f.list("o", state.Pos{}, 2)), 2)
		f.equal("live", f.keys("o", 2), []string{"2", "4"})
	}},
}
