package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	taskTTL      = int64(60_000)
	pollEvery    = 200 * time.Millisecond
	patience     = 20 * time.Second
	closingLimit = 2 * time.Second
)

// profile holds the tools of one server by flow, and what a user fills in.
type profile map[string]json.RawMessage

// call is a tool with its arguments.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

func readProfile(file, name string) (profile, error) {
	raw, err := os.ReadFile(file) //nolint:gosec // the file that the command line names
	if err != nil {
		return nil, fmt.Errorf("cannot read profiles: %w", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("cannot read profiles from %s: %w", file, err)
	}
	if all[name] == nil || strings.HasPrefix(name, "_") {
		return nil, fmt.Errorf("unknown profile %q", name)
	}
	var p profile
	return p, json.Unmarshal(all[name], &p)
}

// tool is the first of the keys that the profile has a tool for.
func (p profile) tool(keys ...string) (call, error) {
	for _, key := range keys {
		if raw := p[key]; raw != nil {
			var c call
			return c, json.Unmarshal(raw, &c)
		}
	}
	return call{}, notApplicableError{key: strings.Join(keys, " or ")}
}

// host answers what the server asks, and keeps what it was asked.
type host struct {
	content map[string]any

	mu            sync.Mutex
	elicitations  []any
	samplings     []any
	notifications []any
}

// Elicit fills in the form with what the profile has for its fields.
func (h *host) Elicit(_ context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	h.mu.Lock()
	h.elicitations = append(h.elicitations, request.Params)
	h.mu.Unlock()
	schema, _ := request.Params.RequestedSchema.(map[string]any)
	fields, _ := schema["properties"].(map[string]any)
	content := map[string]any{}
	for field := range fields {
		content[field] = h.content[field]
	}
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: content,
	}}, nil
}

// CreateMessage is the client's model.
func (h *host) CreateMessage(_ context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	h.mu.Lock()
	h.samplings = append(h.samplings, request.CreateMessageParams)
	h.mu.Unlock()
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{
			Role: mcp.RoleAssistant, Content: mcp.NewTextContent("old pond, frog leaps in"),
		},
		Model: "test-model",
	}, nil
}

func (h *host) notified(n mcp.JSONRPCNotification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notifications = append(h.notifications, n)
}

// asked is what the server has asked so far.
func (h *host) asked() evidence {
	h.mu.Lock()
	defer h.mu.Unlock()
	return evidence{"elicitations": append([]any{}, h.elicitations...), "samplings": append([]any{}, h.samplings...)}
}

// session is one connected client.
type session struct {
	profile
	*host
	ctx       context.Context
	client    *client.Client
	transport *transport.StreamableHTTP
	init      *mcp.InitializeResult
	lastID    int64
}

func connect(ctx context.Context, url string, prof profile) (*session, error) {
	h := &host{}
	if raw := prof["elicitContent"]; raw != nil {
		if err := json.Unmarshal(raw, &h.content); err != nil {
			return nil, err
		}
	}
	//nolint:staticcheck // deprecated with the revision that this client is to speak
	tr, err := transport.NewStreamableHTTP(url, transport.WithContinuousListening())
	if err != nil {
		return nil, err
	}
	c := client.NewClient(tr, client.WithElicitationHandler(h), client.WithSamplingHandler(h))
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	c.OnNotification(h.notified)
	init, err := c.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: "2025-11-25", ClientInfo: mcp.Implementation{Name: "mcpgo-client", Version: "1.0.0"},
	}})
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	return &session{profile: prof, host: h, ctx: ctx, client: c, transport: tr, init: init, lastID: 1000}, nil
}

// close ends the session; a peer that hangs is not waited for.
func (s *session) close() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.client.Close() // a peer that is gone cannot be closed politely
	}()
	select {
	case <-done:
	case <-time.After(closingLimit):
	}
}

// create calls a tool as a task. The client's own CallTool cannot read a
// CreateTaskResult ("content is missing"), so the request goes through its
// transport; the answer is returned as it came, too.
func (s *session) create(keys ...string) (string, json.RawMessage, error) {
	t, err := s.tool(keys...)
	if err != nil {
		return "", nil, err
	}
	s.lastID++
	ttl := taskTTL
	resp, err := s.transport.SendRequest(s.ctx, transport.JSONRPCRequest{
		JSONRPC: "2.0", ID: mcp.NewRequestId(s.lastID), Method: "tools/call",
		Params: mcp.CallToolParams{Name: t.Name, Arguments: t.Arguments, Task: &mcp.TaskParams{TTL: &ttl}},
	})
	if err != nil {
		return "", nil, err
	}
	if resp.Error != nil {
		return "", nil, fmt.Errorf("tools/call: %w", resp.Error.AsError())
	}
	var created struct {
		Task mcp.Task `json:"task"`
	}
	if err := json.Unmarshal(resp.Result, &created); err != nil {
		return "", nil, err
	}
	if created.Task.TaskId == "" {
		return "", nil, errors.New("no task was made")
	}
	return created.Task.TaskId, resp.Result, nil
}

func (s *session) get(id string) (*mcp.GetTaskResult, error) {
	return s.client.GetTask(s.ctx, mcp.GetTaskRequest{Params: mcp.GetTaskParams{TaskId: id}})
}

func (s *session) result(id string) (*mcp.TaskResultResult, error) {
	return s.client.TaskResult(s.ctx, mcp.TaskResultRequest{Params: mcp.TaskResultParams{TaskId: id}})
}

func (s *session) cancel(id string) (*mcp.CancelTaskResult, error) {
	return s.client.CancelTask(s.ctx, mcp.CancelTaskRequest{Params: mcp.CancelTaskParams{TaskId: id}})
}

// until polls to a terminal status: the last task, and every status seen on
// the way without repetitions.
func (s *session) until(id string) (evidence, error) {
	statuses := []mcp.TaskStatus{}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pollEvery) {
		task, err := s.get(id)
		if err != nil {
			return nil, err
		}
		if n := len(statuses); n == 0 || statuses[n-1] != task.Status {
			statuses = append(statuses, task.Status)
		}
		if task.Status.IsTerminal() {
			return evidence{"task": task, "statuses": statuses}, nil
		}
	}
	return nil, fmt.Errorf("task not finished after %v; statuses: %v", patience, statuses)
}

// attempt is {ok: value} or {error: ...}: an error of the peer is evidence.
func attempt[T any](value T, err error) evidence {
	if err != nil {
		return evidence{"error": errorOf(err)}
	}
	return evidence{"ok": value}
}

// errorOf shows an error, with its JSON-RPC code where the client keeps it.
func errorOf(err error) evidence {
	codes := map[error]int{
		mcp.ErrInvalidRequest: mcp.INVALID_REQUEST, mcp.ErrMethodNotFound: mcp.METHOD_NOT_FOUND,
		mcp.ErrInvalidParams: mcp.INVALID_PARAMS, mcp.ErrInternalError: mcp.INTERNAL_ERROR,
	}
	for sentinel, code := range codes {
		if errors.Is(err, sentinel) {
			return evidence{"code": code, "message": err.Error()}
		}
	}
	return evidence{"message": err.Error()}
}
