package edge_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

func TestAccept(t *testing.T) {
	t.Parallel()
	both, json, events, none := edge.Accepts{JSON: true, EventStream: true}, edge.Accepts{JSON: true}, edge.Accepts{EventStream: true}, edge.Accepts{}
	for _, tt := range []struct {
		name   string
		fields []string
		want   edge.Accepts
	}{
		{"absent", nil, both},
		{"empty", []string{""}, both},
		{"both", []string{"application/json, text/event-stream"}, both},
		{"both, in two fields", []string{"application/json", "text/event-stream"}, both},
		{"JSON", []string{"application/json"}, json},
		{"event streams", []string{"text/event-stream"}, events},
		{"upper case", []string{"Application/JSON"}, json},
		{"anything", []string{"*/*"}, both},
		{"a kind of type", []string{"text/*"}, events},
		{"the other kind", []string{"application/*"}, json},
		{"something else", []string{"text/html, application/xml;q=0.9"}, none},
		{"something that begins alike", []string{"application/json-rpc"}, none},
		{"with a weight", []string{"application/json;q=0.001, text/event-stream; q=1"}, both},
		{"with a charset", []string{"application/json; charset=utf-8"}, json},
		{"a weight of nothing", []string{"application/json;q=0, text/event-stream;q=0.0"}, none},
		{"anything but one", []string{"*/*, text/event-stream;q=0"}, json},
		{"anything but one, in the other order", []string{"application/json;q=0, */*;q=0.1"}, events},
		{"nothing but one", []string{"*/*;q=0, application/json"}, json},
		{"nothing of a kind but one", []string{"text/*;q=0, text/event-stream, */*"}, both},
		{"one twice", []string{"application/json;q=0, application/json"}, json},
		{"one twice, in the other order", []string{"application/json, application/json;version=1;q=0"}, json},
		{"one twice, and never", []string{"application/json;q=0, application/json;q=0.0"}, none},
		{"a weight that is no number", []string{"application/json;q=high"}, none},
		{"a weight that is not a number", []string{"application/json;q=NaN"}, none},
		{"a negative weight", []string{"application/json;q=-1"}, none},
		{"a part that cannot be read", []string{"/;;, application/json"}, json},
		{"a parameter that cannot be read", []string{"application/json;x, text/html"}, json},
		{"commas", []string{",,"}, none},
	} {
		t.Run("A-L14 "+tt.name, func(t *testing.T) {
			t.Parallel()
			r := &http.Request{Header: http.Header{"Accept": tt.fields}}
			if got := edge.ParseAccept(r); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// posted reads a body as a POST of this content type.
func posted(t *testing.T, contentType string, body io.Reader, limit int64) ([]byte, *httptest.ResponseRecorder, error) {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	c.Request = httptest.NewRequest(http.MethodPost, "/", body)
	if contentType != "" {
		c.Request.Header.Set("Content-Type", contentType)
	}
	got, err := edge.ReadBody(c, env.System(), roomFor(t, c), limit)
	return got, w, err
}

// roomFor is room for whatever comes.
func roomFor(t *testing.T, c *gin.Context) *edge.Room {
	t.Helper()
	room, ok := edge.NewBudget(1<<30, 1<<30).Take(c, "")
	if !ok {
		t.Fatal("no room")
	}
	return room
}

// unsized hides the length of a body.
type unsized struct{ io.Reader }

func TestReadBody(t *testing.T) {
	t.Parallel()
	const limit = 200 << 10
	most := strings.Repeat("x", limit)
	for _, tt := range []struct {
		name, contentType string
		body              io.Reader
		status            int // 0: the body is read
		want              string
	}{
		{"read", "application/json", strings.NewReader("{}"), 0, "{}"},
		{"with a charset", "application/json; charset=UTF-8", strings.NewReader("{}"), 0, "{}"},
		{"a parameter that cannot be read", "application/json; charset", strings.NewReader("{}"), 0, "{}"},
		{"upper case", "APPLICATION/JSON", strings.NewReader("{}"), 0, "{}"},
		{"empty", "application/json", strings.NewReader(""), 0, ""},
		{"as large as allowed", "application/json", strings.NewReader(most), 0, most},
		{"as large as allowed, in small pieces", "application/json", unsized{iotest.HalfReader(strings.NewReader(most))}, 0, most},
		{"one byte more", "application/json", strings.NewReader(most + "x"), 413, "message: want at most 204800 bytes"},
		{"one byte more, of unknown length", "application/json", unsized{strings.NewReader(most + "x")}, 413, "message: want at most 204800 bytes"},
		{"no type", "", strings.NewReader("{}"), 415, "Content-Type: want application/json"},
		{"another type", "text/plain", strings.NewReader("{}"), 415, "Content-Type: want application/json"},
		{"a type that begins alike", "application/json-seq", strings.NewReader("{}"), 415, "Content-Type: want application/json"},
		{"a type that cannot be read", "application/json/x;", strings.NewReader("{}"), 415, "Content-Type: want application/json"},
		{"broken off", "application/json", unsized{iotest.ErrReader(io.ErrUnexpectedEOF)}, 400, "message: broke off"},
		{"too slow", "application/json", unsized{iotest.ErrReader(os.ErrDeadlineExceeded)}, 408, "message: want it within 1m0s"},
	} {
		t.Run("A-L14 a body "+tt.name, func(t *testing.T) {
			t.Parallel()
			got, w, err := posted(t, tt.contentType, tt.body, limit)
			if tt.status == 0 {
				if err != nil || string(got) != tt.want || w.Body.Len() != 0 {
					t.Errorf("%d bytes, %v, answered %q", len(got), err, w.Body)
				}
				return
			}
			want := `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: ` + tt.want + `"}}`
			if !errors.Is(err, edge.ErrAnswered) || got != nil || w.Code != tt.status || w.Body.String() != want {
				t.Errorf("%q, %v, answered %d %s\nwant %d %s", got, err, w.Code, w.Body, tt.status, want)
			}
			if kind := w.Header().Get("Content-Type"); kind != "application/json" {
				t.Errorf("Content-Type %q", kind)
			}
		})
	}
}

// TestReadBodyReserve: a client that only announces a large message gets no
// memory for it.
func TestReadBodyReserve(t *testing.T) {
	t.Parallel()
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte("{}")))
	c.Request.Header.Set("Content-Type", "application/json")
	c.Request.ContentLength = 1 << 30
	body, err := edge.ReadBody(c, env.System(), roomFor(t, c), 1<<30)
	if err != nil || cap(body) > 128<<10 {
		t.Errorf("%d bytes reserved, %v", cap(body), err)
	}
}

func TestWriteError(t *testing.T) {
	t.Parallel()
	for id, want := range map[jsonrpc.ID]string{
		"":    `{"jsonrpc":"2.0","error":{"code":-32600,"message":"<m>"}}`,
		`"7"`: `{"jsonrpc":"2.0","id":"7","error":{"code":-32600,"message":"<m>"}}`,
		"0":   `{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"<m>"}}`,
	} {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		edge.WriteError(c, http.StatusTeapot, id, jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "<m>"))
		if w.Code != http.StatusTeapot || w.Body.String() != want {
			t.Errorf("%d %s, want %s", w.Code, w.Body, want)
		}
	}
}

// TestReadBodyRoom: a message takes room as it comes, and not as it is announced. Where
// there is none the client is told to come back.
func TestReadBodyRoom(t *testing.T) {
	t.Parallel()
	budget := edge.NewBudget(100<<10, 100<<10)
	begin := func(body io.Reader, announced int64) (*gin.Context, *edge.Room, *httptest.ResponseRecorder) {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
		c.Request.Header.Set("Content-Type", "application/json")
		c.Request.ContentLength = announced
		room, ok := budget.Take(c, "")
		if !ok {
			t.Fatal("no room for what is announced")
		}
		return c, room, w
	}
	var waiting []*edge.Room
	for range 15 { // 15 MiB are announced
		_, room, _ := begin(strings.NewReader(""), 1<<20)
		waiting = append(waiting, room)
	}
	body := strings.Repeat("x", 50<<10)
	c, _, w := begin(strings.NewReader(body), int64(len(body)))
	if _, err := edge.ReadBody(c, env.System(), waiting[0], 1<<20); err == nil || w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("there is room for more than there is: %v, %d", err, w.Code)
	}
	for _, room := range waiting {
		room.Release()
	}
	for _, announced := range []int64{int64(len(body)), -1} {
		c, room, w := begin(unsized{iotest.HalfReader(strings.NewReader(body))}, announced)
		if got, err := edge.ReadBody(c, env.System(), room, 1<<20); err != nil || string(got) != body {
			t.Errorf("%d bytes, %v, %d", len(got), err, w.Code)
		}
		if back, ok := budget.TryHold(t.Context(), int64(100<<10-4<<10-len(body))); !ok {
			t.Error("more room is held than the message has")
		} else {
			back()
		}
		room.Release()
	}
}
