package adapter_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestStorm: many clients of the modern face at once, patient and not, in front of a
// legacy server at its worst. Nobody is told what is for another, nothing runs twice,
// every wait ends, and nothing is left when the bridge stops (DESIGN §4).
func TestStorm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			server := newStormy(seed)
			cellOf(t, server, func(c *eraCell) {
				sailors := make([]*sailor, 12)
				for i := range sailors {
					sailors[i] = &sailor{c: c, n: i, random: rand.New(rand.NewPCG(seed, uint64(i)))}
					if i%3 > 0 {
						sailors[i].name = fmt.Sprint("sailor-", i/2)
					}
				}
				for _, host := range []string{"off", "slow"} {
					c.set = []string{"host_tasks=" + host}
					c.restart() // tasks outlive it, and the rest is forgotten
					var work sync.WaitGroup
					for _, s := range sailors {
						work.Go(s.sail)
					}
					work.Wait()
					begun := time.Now()
					c.restart()
					if took := time.Since(begun); took > 25*time.Second {
						t.Errorf("the bridge took %v to stop", took)
					}
				}
				for _, once := range server.twice() {
					t.Errorf("G-6 ran %s", once)
				}
			})
		})
	}
}

// sailor is a client in the storm.
type sailor struct {
	c      *eraCell
	n      int
	name   string // empty for one without a credential
	random *rand.Rand
	calls  int
	tasks  []string // their handles, as JSON
}

// sail makes requests of all kinds.
func (s *sailor) sail() {
	for range 25 {
		switch s.random.IntN(8) {
		case 0:
			s.request("server/discover", "", "")
		case 1:
			s.request("prompts/get", "p", `,"name":"p"`)
		case 2:
			s.listen()
		case 3, 4:
			s.about()
		default:
			s.call()
		}
		time.Sleep(time.Duration(s.random.IntN(2000)) * time.Millisecond)
	}
}

func (s *sailor) capabilities() string {
	return []string{
		`{}`, canAsk, canTasks, `{"roots":{},"elicitation":{"url":{}}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
	}[s.n%5]
}

// call calls a tool and answers what it is asked, mostly.
func (s *sailor) call() {
	s.calls++
	tool := []string{"a", "b"}[s.random.IntN(2)]
	params := fmt.Sprintf(`,"name":%q,"arguments":{"once":"%d-%d"}`, tool, s.n, s.calls)
	got := s.request("tools/call", tool, params)
	for range 5 {
		result := got.Get("result")
		if id := result.Get("taskId"); id.Present() {
			s.tasks = append(s.tasks, string(id))
		}
		state := result.Get("requestState")
		if !state.Present() || s.random.IntN(8) == 0 {
			return
		}
		got = s.request("tools/call", tool, params+`,"requestState":`+string(state)+`,"inputResponses":`+s.answers(result))
	}
}

// answers answers what is asked, or not, or badly.
func (s *sailor) answers(asked wire.Value) string {
	var all []string
	for m := range asked.Get("inputRequests").Members() {
		answer := `{"action":"accept","content":{}}`
		switch method := text(m.Value, "method"); {
		case s.random.IntN(6) == 0:
			answer = `{"x":1}`
		case method == "sampling/createMessage":
			answer = `{"role":"assistant","content":{"type":"text","text":"t"},"model":"m"}`
		case method == "roots/list":
			answer = `{"roots":[]}`
		}
		if s.random.IntN(6) > 0 {
			all = append(all, string(wire.String(m.Name))+":"+answer)
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

// about asks for a task, answers it or cancels it.
func (s *sailor) about() {
	if len(s.tasks) == 0 {
		s.call()
		return
	}
	handle := s.tasks[s.random.IntN(len(s.tasks))]
	name, _ := wire.Value(handle).Text()
	got := s.request("tasks/get", name, `,"taskId":`+handle)
	if got.Get("result").Get("inputRequests").Present() {
		s.request("tasks/update", name, `,"taskId":`+handle+`,"inputResponses":`+s.answers(got.Get("result")))
	}
	if s.random.IntN(5) == 0 {
		s.request("tasks/cancel", name, `,"taskId":`+handle)
	}
}

func (s *sailor) listen() {
	tasks := ""
	if strings.Contains(s.capabilities(), "tasks") {
		tasks = `,"taskIds":[` + strings.Join(s.tasks, ",") + `]`
	}
	s.request("subscriptions/listen", "", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["vein://1","vein://2"]`+tasks+`}`)
}

// request makes a request, and returns the response, or nothing if it hung up before.
func (s *sailor) request(method, name, members string) (response wire.Value) {
	patience := time.Duration(s.random.IntN(20_000)) * time.Millisecond
	if s.random.IntN(3) == 0 {
		patience = 2 * time.Hour
	}
	if method == "subscriptions/listen" {
		patience = min(patience, 20*time.Second)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":%q,"params":{"_meta":{%s%s,"progressToken":"p%d","io.modelcontextprotocol/logLevel":"debug"}%s}}`,
		s.n, method, recentMeta, s.capabilities(), s.n, members)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/modern/quarry", strings.NewReader(body))
	if err != nil {
		s.c.t.Error(err)
		return ""
	}
	r.Header = http.Header{
		"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method},
	}
	if name != "" {
		r.Header.Set("Mcp-Name", name)
	}
	if s.name != "" {
		r.Header.Set("Authorization", "Bearer "+s.name)
	}
	resp, err := s.c.http.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			s.c.t.Errorf("%s: %v", method, err)
		}
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		if strings.HasPrefix(line, "{") {
			response = s.check(wire.Value(line))
		}
		if err != nil {
			if err != io.EOF && ctx.Err() == nil {
				s.c.t.Errorf("%s: %v", method, err)
			}
			return response
		}
	}
}

// check looks at what a client is told, and returns it if it is a response.
func (s *sailor) check(msg wire.Value) (response wire.Value) {
	if _, err := wire.Check([]byte(msg)); err != nil {
		s.c.t.Errorf("told %s: %v", msg, err)
	}
	s.checkMarks(msg)
	if token := msg.Get("params").Get("progressToken"); token.Present() && token != wire.String(fmt.Sprint("p", s.n)) {
		s.c.t.Errorf("told another's progress: %s", msg)
	}
	if !msg.Get("id").Present() {
		return ""
	}
	if text(msg, "id") != fmt.Sprint("r", s.n) || msg.Get("method").Present() {
		s.c.t.Errorf("told %s", msg)
	}
	return msg
}

// checkMarks looks for what is for another, or for nobody.
func (s *sailor) checkMarks(msg wire.Value) {
	for _, secret := range []string{"srv:", "raw:"} {
		if strings.Contains(string(msg), secret) {
			s.c.t.Errorf("told what is the backend's: %s", msg)
		}
	}
	marks := map[string]string{"for<": s.name, "of<": fmt.Sprint(s.n)}
	if strings.HasSuffix(text(msg, "method"), "ed") { // a change concerns the whole session
		delete(marks, "of<")
	}
	for mark, own := range marks {
		for _, after := range strings.Split(string(msg), mark)[1:] {
			if whose, _, _ := strings.Cut(after, ">"); whose != own {
				s.c.t.Errorf("%q was told what is %s%s>: %s", own, mark, whose, msg)
			}
		}
	}
}
