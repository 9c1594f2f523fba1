package adapter_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestLegacyStorm is [TestStorm] for clients of the server's own era (S-1, S-2).
func TestLegacyStorm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			server := newStormy(seed)
			cellOf(t, server, func(c *eraCell) {
				var work sync.WaitGroup
				for i := range 12 {
					s := &oldSailor{sailor: sailor{c: c, n: i, random: rand.New(rand.NewPCG(seed, uint64(i)))}}
					if i%3 > 0 {
						s.name = fmt.Sprint("sailor-", i/2)
					}
					work.Go(s.sail)
				}
				work.Wait()
				begun := time.Now()
				c.restart()
				if took := time.Since(begun); took > 25*time.Second {
					t.Errorf("the bridge took %v to stop", took)
				}
				for _, once := range server.twice() {
					t.Errorf("G-6 ran %s", once)
				}
			})
		})
	}
}

// oldSailor is a client of 2025-11-25 in the storm.
type oldSailor struct {
	sailor

	session string
	work    sync.WaitGroup
}

// sail makes requests of all kinds, in one session after the other.
func (s *oldSailor) sail() {
	for range 4 {
		s.tasks = nil // another session's, unless the client has a name
		opened := s.post(60*time.Second, s.message("initialize", `{"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":{"elicitation":{"form":{}},"sampling":{},"roots":{}}}`))
		if s.session = opened.header.Get("Mcp-Session-Id"); s.session == "" {
			time.Sleep(time.Second)
			continue
		}
		s.post(10*time.Second, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		ctx, cancel := context.WithCancel(context.Background())
		s.work.Go(func() { s.send(ctx, http.MethodGet, "") })
		for range 10 {
			if !s.step() {
				break
			}
			time.Sleep(time.Duration(s.random.IntN(2000)) * time.Millisecond)
		}
		if s.random.IntN(2) == 0 {
			s.post(time.Minute, "") // DELETE
		}
		cancel()
		s.work.Wait()
	}
}

func (s *oldSailor) message(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":%q,"params":%s}`, s.n, method, params)
}

// step makes a request, and reports whether the session is still there.
func (s *oldSailor) step() bool {
	s.calls++
	once := fmt.Sprintf(`"arguments":{"once":"%d-%d"},"_meta":{"progressToken":"p%d"}`, s.n, s.calls, s.n)
	method, params := "tools/call", `{"name":"a",`+once+`}`
	switch s.random.IntN(6) {
	case 0:
		method, params = "prompts/get", `{"name":"p"}`
	case 1, 2:
		params = `{"name":"b","task":{},` + once + `}`
	case 3, 4:
		if len(s.tasks) > 0 {
			method = []string{"tasks/get", "tasks/result", "tasks/cancel"}[s.random.IntN(3)]
			params = `{"taskId":` + s.tasks[s.random.IntN(len(s.tasks))] + `}`
		}
	}
	patience := time.Duration(s.random.IntN(30_000)) * time.Millisecond
	if s.random.IntN(3) == 0 {
		patience = 2 * time.Hour
	}
	got := s.post(patience, s.message(method, params))
	if id := got.response.Get("result").Get("task").Get("taskId"); id.Present() {
		s.tasks = append(s.tasks, string(id))
	}
	return got.status != http.StatusNotFound
}

// told is what a client of the storm got for a message.
type told struct {
	status   int
	header   http.Header
	response wire.Value
}

// post sends a message, or ends the session if that is empty, and waits for so long.
func (s *oldSailor) post(patience time.Duration, body string) told {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if body == "" {
		return s.send(ctx, http.MethodDelete, "")
	}
	return s.send(ctx, http.MethodPost, body)
}

func (s *oldSailor) send(ctx context.Context, method, body string) (got told) {
	got.header = http.Header{}
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/legacy/quarry", strings.NewReader(body))
	if err != nil {
		s.c.t.Error(err)
		return got
	}
	r.Header = http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
	if s.session != "" && !strings.Contains(body, `"method":"initialize"`) {
		r.Header.Set("Mcp-Session-Id", s.session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	if s.name != "" {
		r.Header.Set("Authorization", "Bearer "+s.name)
	}
	resp, err := s.c.http.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			s.c.t.Errorf("%s %s: %v", method, body, err)
		}
		return got
	}
	defer func() { _ = resp.Body.Close() }()
	got.status, got.header = resp.StatusCode, resp.Header
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		if strings.HasPrefix(line, "{") {
			if response := s.hear(wire.Value(line)); response.Present() { //nolint:contextcheck // an answer is a request of its own
				got.response = response
			}
		}
		if err != nil {
			return got
		}
	}
}

// hear takes what the bridge says, and answers what it asks, mostly. It returns a
// response.
func (s *oldSailor) hear(msg wire.Value) (response wire.Value) {
	read, err := jsonrpc.Parse(msg)
	if err != nil {
		s.c.t.Errorf("told %s: %v", msg, err)
		return ""
	}
	if read.Kind != jsonrpc.KindRequest {
		return s.check(msg)
	}
	s.checkMarks(msg)
	s.work.Go(func() {
		s.post(time.Minute, `{"jsonrpc":"2.0","id":`+string(read.ID)+`,"result":{"action":"accept","content":{}}}`)
	})
	return ""
}
