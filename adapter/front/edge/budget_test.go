package edge_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
)

// taken asks a budget for room for a request.
func taken(t *testing.T, budget *edge.Budget, announced int64) (*edge.Room, *httptest.ResponseRecorder) {
	t.Helper()
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("?"))
	c.Request.ContentLength = announced
	room, ok := budget.Take(c, "here")
	if ok != (room != nil) {
		t.Errorf("room %v, but %v", room, ok)
	}
	return room, w
}

// TestBudget: requests share a number of bytes; one that finds no room is told
// to come again, and what was given back can be taken again.
func TestBudget(t *testing.T) {
	t.Parallel()
	budget := edge.NewBudget(10, 10)
	first, _ := taken(t, budget, 6)
	if first == nil {
		t.Fatal("the first request found no room")
	}
	const full = `{"jsonrpc":"2.0","error":{"code":-32603,"message":"too many messages at once; try again"}}`
	if room, w := taken(t, budget, 5); room != nil || w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || w.Body.String() != full {
		t.Errorf("a request without room: %v, HTTP %d %s", room, w.Code, w.Body)
	}
	if room, _ := taken(t, budget, -1); room != nil {
		t.Error("a request of unknown size found room for its limit")
	}
	first.Keep(7) // not more than was reserved
	if room, _ := taken(t, budget, 5); room != nil {
		t.Error("room came from nowhere")
	}
	first.Keep(2)
	second, _ := taken(t, budget, 8)
	if second == nil {
		t.Fatal("room that was not needed is still held")
	}
	second.Release()
	second.Release()
	first.Release()
	if room, _ := taken(t, budget, 10); room == nil {
		t.Error("room that was given back is gone")
	}
	if room, _ := taken(t, budget, 1); room != nil {
		t.Error("more was given back than taken")
	}
}

// TestLentRoom: room that is lent is held until its request is over and all of it is
// given back.
func TestLentRoom(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(room *edge.Room, first, second func()){
		"the request ends first": func(room *edge.Room, first, second func()) { room.Release(); first(); second() },
		"it ends last":           func(room *edge.Room, first, second func()) { second(); first(); room.Release() },
		"it ends in between":     func(room *edge.Room, first, second func()) { first(); room.Release(); second() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			budget := edge.NewBudget(10, 10)
			room, _ := taken(t, budget, 10)
			steps := 0
			step := func(f func()) func() {
				return func() {
					if other, _ := taken(t, budget, 1); other != nil {
						t.Errorf("room is free before step %d", steps)
					}
					steps++
					f()
				}
			}
			end(room, step(room.Lend()), step(room.Lend()))
			if all, _ := taken(t, budget, 10); all == nil || steps != 2 {
				t.Error("room that was given back is gone")
			}
		})
	}
}

// TestSmallBudget: where the budget is less than is reserved at first, one request fits
// all the same.
func TestSmallBudget(t *testing.T) {
	t.Parallel()
	if room, _ := taken(t, edge.NewBudget(10, 10), -1); room == nil {
		t.Error("a request found no room in an unused budget")
	}
}

// TestHold: what comes in answer to a request has its place in that one's room, and is
// given back with it. What belongs to none is given back by itself.
func TestHold(t *testing.T) {
	t.Parallel()
	budget := edge.NewBudget(100, 100)
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("?"))
	room, ok := budget.Take(c, "here")
	if !ok {
		t.Fatal("no room")
	}
	ctx := c.Request.Context()
	wantFree := func(what string, n int64) {
		t.Helper()
		back, ok := budget.TryHold(t.Context(), n)
		if !ok {
			t.Errorf("%s: less than %d is free", what, n)
			return
		}
		if more, ok := budget.TryHold(t.Context(), 1); ok {
			t.Errorf("%s: more than %d is free", what, n)
			more()
		}
		back()
		back() // which is no harm
	}
	if back, ok := budget.TryHold(ctx, 40); !ok || back != nil {
		t.Errorf("an answer has no place in the room of its request: %v", ok)
	}
	wantFree("in its room", 59)
	lent := room.Lend()
	room.Release()
	if back, ok := budget.TryHold(ctx, 20); !ok || back != nil {
		t.Errorf("nor in that of one which goes on: %v", ok)
	}
	wantFree("lent", 39)
	if _, ok := budget.TryHold(ctx, 40); ok {
		t.Error("more than there is")
	}
	late, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := budget.Hold(late, 40); !errors.Is(err, port.ErrNoRoom) {
		t.Errorf("error %v", err)
	}
	if _, err := budget.Hold(ctx, 101); !errors.Is(err, port.ErrNoRoom) {
		t.Errorf("error %v", err)
	}
	lent()
	wantFree("released", 100)
	back, ok := budget.TryHold(ctx, 30)
	if !ok || back == nil {
		t.Fatal("what comes after its request has no room, or that of the request")
	}
	wantFree("after it", 70)
	back()
	wantFree("in the end", 100)
}

// TestLarge: large exchanges have a part of all together, those of one address a part of
// that, and leave the rest to small ones.
func TestLarge(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	// begin begins an exchange of an address whose answer has a size in KiB.
	budget := edge.NewBudget(1000*kib, 300*kib)
	begin := func(origin string, size int64) (*edge.Room, bool) {
		t.Helper()
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(""))
		room, ok := budget.Take(c, origin)
		if !ok {
			t.Fatalf("%s: no room for the request", origin)
		}
		for step := int64(0); ok && step < size; step += 10 {
			_, ok = budget.TryHold(c.Request.Context(), 10*kib)
		}
		return room, ok
	}
	want := func(origin string, size int64, want bool) *edge.Room {
		t.Helper()
		room, ok := begin(origin, size)
		if ok != want {
			t.Errorf("%s with %d KiB: %v", origin, size, ok)
		}
		return room
	}
	one := want("a", 300, true) // alone, though it is more than an address may have
	want("a", 70, false).Release()
	want("a", 60, true).Release()
	one.Release()
	one = want("a", 130, true)
	two := want("a", 120, true)
	want("a", 70, false).Release()
	want("b", 250, true)
	want("c", 250, true)
	want("d", 70, false).Release() // it would be more than 750 of all
	small := want("d", 60, true)
	for range 3 {
		want("e", 60, true)
	}
	two.Release()
	want("a", 110, true).Release()
	small.Release()
	one.Release()
	want("f", 240, true)
}
