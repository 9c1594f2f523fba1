package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const version = "1.2.1"

// settled is how long a tool waits until the client has heard of its task.
const settled = 200 * time.Millisecond

// work is what a tool does in a task.
type work func(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error)

func main() {
	addr := flag.String("listen", "127.0.0.1:18414", "listen address")
	flag.Parse()
	if err := server.NewStreamableHTTPServer(build()).Start(*addr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func build() *server.MCPServer {
	s := server.NewMCPServer("mcp-go-peer", version,
		server.WithTaskCapabilities(true, true, true), server.WithToolCapabilities(true),
		server.WithLogging(), server.WithElicitation())
	s.AddTool(mcp.NewTool("add", mcp.WithNumber("a"), mcp.WithNumber("b")), add)
	tasks := map[string]work{
		"work": sleep, "empty": empty, "structured": structured, "tool_error": toolError, "fail": fail,
		"ask": func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
			name, err := ask(ctx, s, "name")
			return &mcp.CreateTaskResult{Content: text(name)}, err
		},
		"ask_twice": func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
			first, err := ask(ctx, s, "first")
			if err != nil {
				return nil, err
			}
			second, err := ask(ctx, s, "second")
			return &mcp.CreateTaskResult{Content: text("first: " + first + "; second: " + second)}, err
		},
	}
	for name, run := range tasks {
		s.AddTaskTool(mcp.NewTool(name, mcp.WithTaskSupport(mcp.TaskSupportRequired), mcp.WithNumber("ms")),
			func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
				// A task's context is that of the HTTP request which made it: it ends
				// before the task has begun.
				return run(context.WithoutCancel(ctx), r)
			})
	}
	return s
}

func text(s string) []mcp.Content { return []mcp.Content{mcp.TextContent{Type: "text", Text: s}} }

func add(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(fmt.Sprint(r.GetFloat("a", 0) + r.GetFloat("b", 0))), nil
}

func sleep(_ context.Context, r mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
	ms := r.GetInt("ms", 0)
	time.Sleep(time.Duration(ms) * time.Millisecond)
	return &mcp.CreateTaskResult{Content: text(fmt.Sprintf("worked %d ms", ms))}, nil
}

func empty(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
	return &mcp.CreateTaskResult{}, nil
}

func structured(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
	return &mcp.CreateTaskResult{Content: text(`{"n":7}`), StructuredContent: map[string]any{"n": 7}}, nil
}

func toolError(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
	return &mcp.CreateTaskResult{Content: text("tool says no"), IsError: true}, nil
}

func fail(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
	time.Sleep(settled)
	return nil, errors.New("the database is on fire")
}

// ask asks one question and returns its answer as text.
func ask(ctx context.Context, s *server.MCPServer, field string) (string, error) {
	time.Sleep(settled)
	schema := map[string]any{"type": "object", "properties": map[string]any{field: map[string]any{"type": "string"}}}
	res, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{
		Params: mcp.ElicitationParams{Message: field + "?", RequestedSchema: schema},
	})
	if err != nil {
		return "", fmt.Errorf("elicit: %w", err)
	}
	content, err := json.Marshal(res.Content)
	return fmt.Sprintf("%s %s", res.Action, content), err
}
