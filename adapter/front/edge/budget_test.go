package edge_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

// TestBudget: requests share a number of bytes; one that finds no room is told
// to come again, and what was given back can be taken again.
func TestBudget(t *testing.T) {
	t.Parallel()
	budget := edge.NewBudget(10)
	take := func(body string, announced int64) (*httptest.ResponseRecorder, func(), bool) {
		recorder := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(recorder)
		c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		c.Request.ContentLength = announced
		giveBack, ok := budget.Take(c, 8)
		return recorder, giveBack, ok
	}
	_, first, ok := take("123456", 6)
	if !ok {
		t.Fatal("the first request found no room")
	}
	recorder, _, ok := take("12345", 5)
	if ok || recorder.Code != http.StatusServiceUnavailable || recorder.Header().Get("Retry-After") == "" {
		t.Errorf("a request without room: %v, HTTP %d", ok, recorder.Code)
	}
	if _, _, ok := take("?", -1); ok {
		t.Error("a request of unknown size found room for its limit")
	}
	first()
	if _, _, ok := take("?", -1); !ok {
		t.Error("room that was given back is gone")
	}
}
