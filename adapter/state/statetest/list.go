package statetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/state"
)

var listCases = []testCase{
	{"an unknown owner has no records", func(f *fixture) {
		f.equal("keys", f.keys("nobody", 5), []string(nil))
	}},
	{"records come in bytewise order, with their values", func(f *fixture) {
		for _, order := range []string{"b", "a\xff", "B", "", "ä", "a", "10", "9", "a "} {
			f.put(state.Record{Key: "k" + order, Owner: "o", Order: order, Value: []byte(order)})
		}
		want := []string{"", "10", "9", "B", "a", "a ", "a\xff", "b", "ä"}
		var got []string
		for _, rec := range f.list("o", state.Pos{}, 100) {
			f.equal("value", string(rec.Value), rec.Order)
			f.equal("key", rec.Key, "k"+rec.Order)
			f.equal("record", rec, f.get(rec.Key))
			got = append(got, rec.Order)
		}
		f.equal("orders", got, want)
	}},
	{"owners are apart", func(f *fixture) {
		f.put(state.Record{Key: "1", Owner: "o", Order: "1"})
		f.put(state.Record{Key: "2", Owner: "O", Order: "2"})
		f.put(state.Record{Key: "3", Owner: "oo", Order: "3"})
		f.put(state.Record{Key: "4", Order: "4"})
		f.equal("keys", f.keys("o", 5), []string{"1"})
	}},
	{"pages of every size show each record once, ties included", func(f *fixture) {
		var want []string
		for i := range 12 {
			key := fmt.Sprintf("k%02d", i)
			f.put(state.Record{Key: key, Owner: "o", Order: fmt.Sprint(i / 5)})
			want = append(want, key)
		}
		for size := 1; size <= 13; size++ {
			f.equal(fmt.Sprintf("keys by %d", size), f.keys("o", size), want)
		}
	}},
	{"a place need not be that of a record", func(f *fixture) {
		for _, order := range []string{"a", "c"} {
			f.put(state.Record{Key: order, Owner: "o", Order: order})
		}
		for _, test := range []struct {
			after state.Pos
			want  int
		}{
			{state.Pos{}, 2},
			{state.Pos{Order: "a"}, 2},
			{state.Pos{Order: "a", Key: "a"}, 1},
			{state.Pos{Order: "b", Key: "z"}, 1},
			{state.Pos{Order: "c", Key: "c"}, 0},
			{state.Pos{Order: "c\x01"}, 0},
		} {
			f.equal(fmt.Sprintf("records after %q", test.after), len(f.list("o", test.after, 5)), test.want)
		}
	}},
	{"a write moves the record in the index and between owners", func(f *fixture) {
		f.put(state.Record{Key: "1", Owner: "o", Order: "1"})
		f.put(state.Record{Key: "2", Owner: "o", Order: "2"})
		f.put(state.Record{Key: "1", Owner: "o", Order: "3"})
		f.equal("keys", f.keys("o", 5), []string{"2", "1"})
		f.put(state.Record{Key: "1", Owner: "p", Order: "3"})
		f.equal("keys of o", f.keys("o", 5), []string{"2"})
		f.equal("keys of p", f.keys("p", 5), []string{"1"})
	}},
	{"a record that was deleted is listed again once it is back", func(f *fixture) {
		for range 3 {
			f.put(state.Record{Key: "1", Owner: "o", Order: "1"})
			f.equal("keys", f.keys("o", 5), []string{"1"})
			f.delete("1", state.Always)
			f.equal("keys", f.keys("o", 5), []string(nil))
		}
	}},
	{"many owners keep their records apart", func(f *fixture) {
		const owners = 100
		for i := range 3 * owners {
			f.put(state.Record{Key: fmt.Sprintf("k%03d", i), Owner: fmt.Sprint("o", i%owners), Order: fmt.Sprint(i / owners)})
		}
		for i := range owners {
			f.equal("keys", f.keys(fmt.Sprint("o", i), 2), []string{
				fmt.Sprintf("k%03d", i), fmt.Sprintf("k%03d", i+owners), fmt.Sprintf("k%03d", i+2*owners),
			})
		}
	}},
	{"a page may be large", func(f *fixture) {
		var want []string
		for i := range 700 {
			key := fmt.Sprintf("k%03d", i)
			f.put(state.Record{Key: key, Owner: "o", Order: key, Value: []byte(key)})
			want = append(want, key)
		}
		f.equal("keys", f.keys("o", 1000), want)
		f.equal("keys by 300", f.keys("o", 300), want)
	}},
	{"a refused write leaves the index alone", func(f *fixture) {
		f.put(state.Record{Key: "1", Owner: "o", Order: "1"})
		f.refusePut(state.Record{Key: "1", Owner: "p", Order: "2"}, state.IfAbsent, state.ErrConflict)
		f.equal("keys of o", f.keys("o", 5), []string{"1"})
		f.equal("keys of p", f.keys("p", 5), []string(nil))
	}},
	{"bad arguments are invalid", func(f *fixture) {
		for _, limit := range []int{0, -1} {
			if _, err := f.store.List(f.Context(), "o", state.Pos{}, limit); !errors.Is(err, state.ErrInvalid) {
				f.Errorf("limit %d: got error %v", limit, err)
			}
		}
		if _, err := f.store.List(f.Context(), "", state.Pos{}, 1); !errors.Is(err, state.ErrInvalid) {
			f.Errorf("empty owner: got error %v", err)
		}
	}},
	{"what exists throughout is listed once while others insert and delete", listWhileWriting},
}

// listWhileWriting pages through an index that another goroutine changes before,
// at and after every place.
func listWhileWriting(f *fixture) {
	const old, walks = 40, 20
	var want []string
	for i := range old {
		key := fmt.Sprintf("old%03d", i)
		f.put(state.Record{Key: key, Owner: "o", Order: fmt.Sprintf("%03d", i/2)})
		want = append(want, key)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			key := fmt.Sprintf("new%03d", i%old)
			_, err := f.store.Put(f.Context(), state.Record{Key: key, Owner: "o", Order: fmt.Sprintf("%03d", i*7%(old/2))}, state.Always)
			if err == nil && i%3 == 0 {
				err = f.store.Delete(f.Context(), key, state.Always)
			}
			if err != nil {
				f.Error(err)
				return
			}
		}
	})
	defer wg.Wait()
	defer close(stop)
	for range walks {
		var got []string
		for _, key := range f.keys("o", 3) {
			if key[:3] == "old" {
				got = append(got, key)
			}
		}
		f.equal("old keys", got, want)
	}
}
