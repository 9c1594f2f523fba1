package adapter_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// stormy is a server of 2025-11-25 at its worst: it asks at any time and anywhere, names
// what is not its business, forgets its sessions, breaks its streams and does not answer.
// What it says in a session is marked with whom that is for.
type stormy struct {
	mu       sync.Mutex
	random   *rand.Rand
	sessions map[string]string // whom they are for, by their ids
	tasks    map[string]string // the same for tasks
	ran      map[string]int    // calls that were run, by what they say of themselves
	last     int
	handlers sync.WaitGroup
}

func newStormy(seed uint64) *stormy {
	return &stormy{
		random:   rand.New(rand.NewPCG(seed, 1)),
		sessions: make(map[string]string), tasks: make(map[string]string), ran: make(map[string]int),
	}
}

// roll returns a number below n.
func (s *stormy) roll(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

func (s *stormy) next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last
}

// Close returns when nothing is being said any more.
func (s *stormy) Close() { s.handlers.Wait() }

// ServeHTTP implements [http.Handler].
func (s *stormy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handlers.Add(1)
	defer s.handlers.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	msg, _ := jsonrpc.Read(body)
	id := r.Header.Get("Mcp-Session-Id")
	s.mu.Lock()
	whose, known := s.sessions[id]
	s.mu.Unlock()
	switch {
	case msg.Method == "server/discover":
		w.WriteHeader(http.StatusNotFound)
	case msg.Method == "initialize":
		s.open(w, r, msg)
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		s.forget(id)
	case s.roll(60) == 0:
		s.forget(id)
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		s.stand(w, r, whose)
	case msg.Kind != jsonrpc.KindRequest:
		s.linger(r, 3)
		w.WriteHeader([]int{202, 202, 202, 404, 400, 500}[s.roll(6)])
	default:
		s.serve(w, r, whose, msg)
	}
}

// linger makes a client wait, now and then longer than it wants to.
func (s *stormy) linger(r *http.Request, often int) {
	if s.roll(10*often) != 0 {
		return
	}
	select {
	case <-r.Context().Done():
	case <-time.After(time.Duration(s.roll(60)) * time.Second):
	}
}

func (s *stormy) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

func (s *stormy) open(w http.ResponseWriter, r *http.Request, msg jsonrpc.Message) {
	if s.roll(20) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	id := fmt.Sprintf("srv:%d", s.next())
	whose := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.sessions[id] = "for<" + whose + ">"
	s.mu.Unlock()
	w.Header().Set("Mcp-Session-Id", id)
	s.answer(w, msg.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{},"logging":{},"resources":{"subscribe":true},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"storm","version":"1"}}`)
}

func (s *stormy) answer(w http.ResponseWriter, id jsonrpc.ID, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(jsonrpc.AppendResult(nil, id, []byte(result)))
}

// say says anything at all on a stream.
func (s *stormy) say(w http.ResponseWriter, whose string) {
	n := s.roll(5)
	if s.roll(3) == 0 {
		n = s.roll(200) // tokens and ids can be guessed
	}
	said := []string{
		`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"%s","requestedSchema":{"type":"object","properties":{}}}}`,
		`{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"%s"}}],"maxTokens":1}}`,
		`{"jsonrpc":"2.0","id":%d,"method":"roots/list","params":{"x":"%s"}}`,
		`{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"%s"}}`,
		`{"jsonrpc":"2.0","id":%d,"method":"tasks/get","params":{"taskId":"%s"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"%s"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1,"message":"%s"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":[%d,"%s"]}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"n":%d,"x":"%s"}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"vein://%d","x":"%s"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"raw:%d","status":"input_required","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":null,"statusMessage":"%s"}}`,
		`{"jsonrpc":"2.0","id":%d,"result":{"x":"%s"}}`,
		`{"jsonrpc":"2.0","id":%d,"method":7,"x":"%s"`,
	}[s.roll(13)]
	_, _ = fmt.Fprintf(w, "data: "+said+"\n\n", n, whose)
	_ = http.NewResponseController(w).Flush()
}

// stand is the standing stream.
func (s *stormy) stand(w http.ResponseWriter, r *http.Request, whose string) {
	if s.roll(4) == 0 {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for range s.roll(40) {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Duration(s.roll(3000)) * time.Millisecond):
			s.say(w, whose)
		}
	}
}

// serve serves a request, or does not.
func (s *stormy) serve(w http.ResponseWriter, r *http.Request, whose string, msg jsonrpc.Message) {
	if msg.Method == "tools/list" {
		s.answer(w, msg.ID, `{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`)
		return
	}
	id, _ := msg.Params.Get("taskId").Text()
	once, _ := msg.Params.Get("arguments").Get("once").Text()
	s.mu.Lock()
	caller, _, _ := strings.Cut(once, "-")
	if of := s.tasks[id]; of != "" {
		caller = of
	}
	if caller != "" {
		whose += "of<" + caller + ">"
	}
	if msg.Method == "tools/call" {
		s.ran[once]++
	}
	s.mu.Unlock()
	s.linger(r, 1)
	if s.roll(3) == 0 {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, s.end(msg, whose))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for range s.roll(6) {
		s.say(w, whose)
		time.Sleep(time.Duration(s.roll(500)) * time.Millisecond)
	}
	if s.roll(10) > 0 {
		_, _ = io.WriteString(w, "data: "+s.end(msg, whose)+"\n\n")
	}
}

// end is how a request ends.
func (s *stormy) end(msg jsonrpc.Message, whose string) string {
	result := `{"content":[{"type":"text","text":"` + whose + `"}],"messages":[]}`
	n := s.roll(8)
	switch {
	case n == 0:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"%s"}}`, msg.ID, []int{-32000, -32002, -32601, -32602, -32603, 7}[s.roll(6)], whose)
	case n == 1 && msg.Method == "tools/call" && !msg.Params.Get("task").Present():
		s.mu.Lock() // it asks for URLs instead of running
		once, _ := msg.Params.Get("arguments").Get("once").Text()
		s.ran[once]--
		s.mu.Unlock()
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"u","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://a.example/","message":"%s"}]}}}`, msg.ID, whose)
	case n == 2:
		return `{"jsonrpc":"2.0","id":` + string(msg.ID)
	}
	task := func(id, status string) string {
		return `{"taskId":"` + id + `","status":"` + status + `","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttl":60000,"statusMessage":"` + whose + `"}`
	}
	status := []string{"working", "input_required", "completed", "failed", "cancelled", "lost"}[s.roll(6)]
	switch {
	case msg.Method == "tools/call" && msg.Params.Get("task").Present():
		id := fmt.Sprintf("raw:%d", s.next())
		s.mu.Lock()
		_, of, _ := strings.Cut(whose, "of<")
		s.tasks[id] = strings.TrimSuffix(of, ">")
		s.mu.Unlock()
		result = `{"task":` + task(id, status) + `}`
	case msg.Method == "tasks/get" || msg.Method == "tasks/cancel":
		id, _ := msg.Params.Get("taskId").Text()
		result = task(id, status)
	}
	return string(jsonrpc.AppendResult(nil, msg.ID, []byte(result)))
}

// twice returns the calls that were run more than once.
func (s *stormy) twice() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for once, n := range s.ran {
		if n > 1 {
			all = append(all, fmt.Sprintf("%s: %d times", once, n))
		}
	}
	return all
}
