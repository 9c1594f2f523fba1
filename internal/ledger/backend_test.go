//go:build interop

package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/internal/demo"
)

// nonceKey names each call of a client in its _meta, which the bridge passes on.
const nonceKey = "ledger.example/call"

const (
	// pollInterval is how often the backends want to be asked after a task.
	pollInterval = 300 * time.Millisecond
	// keep is how long they keep one: longer than the longest run.
	keep = 30 * time.Minute
)

// call is a tools/call as a backend has seen it.
type call struct {
	// Nonce is the client's call that it is made for, and Tool what is called.
	Nonce, Tool string
	// By is the process of the bridge that has made it.
	By string
	// Again says that it brings answers to what an earlier one has asked.
	Again bool
	// Began is when it arrived, and Ended when it was answered or its caller had gone.
	Began, Ended time.Time
	// Left says that the caller was gone before it was answered.
	Left bool
	// Task is the task that it became, if it became one, in this session of a legacy
	// backend.
	Task, Session string
	// Status and Said are how the task had ended when its session was ended.
	Status, Said string
}

// journal is what a backend was asked.
type journal struct {
	Calls []*call
	// Answers counts how often each answer to a question has arrived, by its text.
	Answers map[string]int
}

// backend is a demo server that keeps a journal.
type backend struct {
	server http.Handler
	url    string

	mu sync.Mutex
	journal
}

// serveBackend serves a backend until the process is ended. It prints its address.
func serveBackend(era string) {
	options := demo.Options{TaskTTL: keep, PollInterval: pollInterval}
	b := &backend{journal: journal{Answers: make(map[string]int)}}
	if era == "modern" {
		b.server = demo.NewModern(options)
	} else {
		b.server = demo.NewLegacy(options)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "backend:", err)
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/journal", b.tell)
	mux.HandleFunc("/{process}/mcp", b.serve)
	b.url = "http://" + l.Addr().String()
	_, _ = fmt.Fprintln(os.Stdout, b.url)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	_, _ = fmt.Fprintln(os.Stderr, "backend:", server.Serve(l))
}

func (b *backend) tell(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = json.NewEncoder(w).Encode(b.journal)
}

// heard is what a message of the bridge says, whatever it is.
type heard struct {
	Method string
	Params struct {
		Name, RequestState string
		InputResponses     map[string]formAnswer
		Meta               map[string]json.RawMessage `json:"_meta"`
	}
	Result formAnswer
}

// formAnswer is the answer to a form.
type formAnswer struct{ Content struct{ Name string } }

func (b *backend) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var m heard
	_ = json.Unmarshal(body, &m) // what it cannot read, the server refuses
	if r.Method == http.MethodDelete {
		b.conclude(context.WithoutCancel(r.Context()), r.Header.Get("Mcp-Session-Id"))
	}
	if m.Method != "tools/call" {
		b.server.ServeHTTP(w, r)
		b.answered(m)
		return
	}
	c := &call{
		Tool: m.Params.Name, By: r.PathValue("process"), Again: m.Params.RequestState != "", Began: time.Now(),
		Session: r.Header.Get("Mcp-Session-Id"),
	}
	_ = json.Unmarshal(m.Params.Meta[nonceKey], &c.Nonce) // an absent one is empty, and found so
	b.mu.Lock()
	b.Calls = append(b.Calls, c)
	b.mu.Unlock()
	if c.Again {
		b.answered(m)
	}
	out := &copied{ResponseWriter: w}
	b.server.ServeHTTP(out, r)
	b.mu.Lock()
	defer b.mu.Unlock()
	c.Ended, c.Left = time.Now(), r.Context().Err() != nil || out.failed
	c.Task = createdTask(out.text.Bytes())
}

// conclude takes note of how the tasks of a session have ended that is about to end.
func (b *backend) conclude(ctx context.Context, session string) {
	b.mu.Lock()
	var calls []*call
	for _, c := range b.Calls {
		if c.Session == session && c.Task != "" {
			calls = append(calls, c)
		}
	}
	b.mu.Unlock()
	for _, c := range calls {
		status, said, err := askLegacy(ctx, b.url+"/audit/mcp", c)
		if err != nil {
			said = err.Error()
		}
		b.mu.Lock()
		c.Status, c.Said = status, said
		b.mu.Unlock()
	}
}

// answered takes note of the answers in a message.
func (b *backend) answered(m heard) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range m.Params.InputResponses {
		b.Answers[a.Content.Name]++
	}
	if m.Method == "" && m.Result.Content.Name != "" {
		b.Answers[m.Result.Content.Name]++
	}
}

// createdTask returns the id of the task in an answer to tools/call.
func createdTask(answer []byte) string {
	for line := range strings.Lines(string(answer)) {
		var m struct {
			Result struct {
				TaskID string
				Task   struct{ TaskID string }
			}
		}
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &m) != nil {
			continue
		}
		if id := m.Result.TaskID + m.Result.Task.TaskID; id != "" {
			return id
		}
	}
	return ""
}

// copied keeps a copy of an answer.
type copied struct {
	http.ResponseWriter
	text   bytes.Buffer
	failed bool
}

// Write implements [http.ResponseWriter].
func (c *copied) Write(p []byte) (int, error) {
	c.text.Write(p)
	n, err := c.ResponseWriter.Write(p)
	c.failed = c.failed || err != nil
	return n, err
}

// Unwrap is for [http.ResponseController].
func (c *copied) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush implements [http.Flusher].
func (c *copied) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }
