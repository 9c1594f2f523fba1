package main

import (
	"context"
	"maps"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	manyTasks = 12
	settling  = 500 * time.Millisecond // for what may still be on its way
)

// flows are the stories this client can tell, unjudged.
var flows = map[string]func(*session) (evidence, error){
	"init":                  initFlow,
	"sync":                  plain("sync"),
	"required-sync":         plain("required"),
	"plain-elicit":          plain("plain-elicit", "elicit"),
	"plain-elicit2":         plain("elicit2"),
	"plain-both":            plain("plain-both", "both"),
	"plain-sample":          plain("plain-sample", "sample"),
	"plain-required-elicit": plain("elicit-required"),
	"complete":              completeFlow,
	"instant":               life("instant"),
	"structured":            life("structured"),
	"iserror":               life("iserror"),
	"failed":                life("failed"),
	"hosted":                life("sync"),
	"hosted-slow":           life("sync-slow"),
	"wait":                  waitFlow,
	"calltool-task":         callToolTaskFlow,
	"elicit":                asked("elicit"),
	"elicit2":               asked("elicit2"),
	"both":                  asked("both"),
	"mrtr":                  asked("mrtr"),
	"sample":                asked("sample"),
	"elicit-polling":        pollingFlow,
	"cancel":                cancelFlow,
	"cancel-finished":       cancelFinishedFlow,
	"unknown":               unknownFlow,
	"notify":                notifyFlow,
	"list":                  listFlow,
}

func initFlow(s *session) (evidence, error) {
	listed, err := s.client.ListTools(s.ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return evidence{
		"protocol": s.init.ProtocolVersion, "serverInfo": s.init.ServerInfo, "capabilities": s.init.Capabilities, "tools": names,
	}, nil
}

// plain calls a tool without a task.
func plain(keys ...string) func(*session) (evidence, error) {
	return func(s *session) (evidence, error) {
		t, err := s.tool(keys...)
		if err != nil {
			return nil, err
		}
		result, err := s.client.CallTool(s.ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: t.Name, Arguments: t.Arguments}})
		out := s.asked()
		out["result"] = attempt(result, err)
		return out, nil
	}
}

// life creates a task, polls to the end and fetches the result.
func life(key string) func(*session) (evidence, error) {
	return func(s *session) (evidence, error) {
		id, created, err := s.create(key)
		if err != nil {
			return nil, err
		}
		out, err := s.until(id)
		if err != nil {
			return nil, err
		}
		result, err := s.result(id)
		maps.Copy(out, evidence{"created": created, "result": attempt(result, err)})
		return out, nil
	}
}

func completeFlow(s *session) (evidence, error) {
	out, err := life("complete")(s)
	if err != nil {
		return nil, err
	}
	task, _ := out["task"].(*mcp.GetTaskResult)
	again, err := s.result(task.TaskId)
	out["again"] = attempt(again, err)
	return out, nil
}

// waitFlow uses the client's own way of waiting.
func waitFlow(s *session) (evidence, error) {
	id, _, err := s.create("complete")
	if err != nil {
		return nil, err
	}
	task, err := s.client.WaitForTask(s.ctx, mcp.GetTaskRequest{Params: mcp.GetTaskParams{TaskId: id}}, pollEvery)
	return evidence{"task": attempt(task, err)}, nil
}

// callToolTaskFlow shows what the client's CallTool makes of a task.
func callToolTaskFlow(s *session) (evidence, error) {
	t, err := s.tool("complete")
	if err != nil {
		return nil, err
	}
	ttl := taskTTL
	result, err := s.client.CallTool(s.ctx, mcp.CallToolRequest{
		Params: mcp.CallToolParams{Name: t.Name, Arguments: t.Arguments, Task: &mcp.TaskParams{TTL: &ttl}},
	})
	return evidence{"result": attempt(result, err)}, nil
}

// asked creates a task and waits for its result at once, through every
// question.
func asked(key string) func(*session) (evidence, error) {
	return func(s *session) (evidence, error) {
		id, _, err := s.create(key)
		if err != nil {
			return nil, err
		}
		result, resultErr := s.result(id)
		final, finalErr := s.get(id)
		out := s.asked()
		maps.Copy(out, evidence{"result": attempt(result, resultErr), "final": attempt(final, finalErr)})
		return out, nil
	}
}

// pollingFlow never calls tasks/result before the end: the client's own
// WaitForTask polls through input_required, so the question has to come by
// itself.
func pollingFlow(s *session) (evidence, error) {
	id, _, err := s.create("elicit")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(s.ctx, patience)
	defer stop()
	last, lastErr := s.client.WaitForTask(ctx, mcp.GetTaskRequest{Params: mcp.GetTaskParams{TaskId: id}}, pollEvery)
	if lastErr != nil {
		return nil, lastErr
	}
	result, resultErr := s.result(id)
	out := s.asked()
	maps.Copy(out, evidence{"taskId": id, "last": last, "result": attempt(result, resultErr)})
	return out, nil
}

func cancelFlow(s *session) (evidence, error) {
	id, _, err := s.create("slow")
	if err != nil {
		return nil, err
	}
	time.Sleep(settling)
	cancelled, cancelErr := s.cancel(id)
	task, getErr := s.get(id)
	result, resultErr := s.result(id)
	again, againErr := s.cancel(id)
	return evidence{
		"cancel": attempt(cancelled, cancelErr), "get": attempt(task, getErr),
		"result": attempt(result, resultErr), "again": attempt(again, againErr),
	}, nil
}

func cancelFinishedFlow(s *session) (evidence, error) {
	id, _, err := s.create("instant")
	if err != nil {
		return nil, err
	}
	if _, err := s.until(id); err != nil {
		return nil, err
	}
	cancelled, cancelErr := s.cancel(id)
	task, getErr := s.get(id)
	return evidence{"cancel": attempt(cancelled, cancelErr), "get": attempt(task, getErr)}, nil
}

//nolint:unparam // a flow like the others
func unknownFlow(s *session) (evidence, error) {
	const id = "no-such-task"
	task, getErr := s.get(id)
	result, resultErr := s.result(id)
	cancelled, cancelErr := s.cancel(id)
	return evidence{
		"get": attempt(task, getErr), "result": attempt(result, resultErr), "cancel": attempt(cancelled, cancelErr),
	}, nil
}

func notifyFlow(s *session) (evidence, error) {
	id, _, err := s.create("complete")
	if err != nil {
		return nil, err
	}
	if _, err := s.until(id); err != nil {
		return nil, err
	}
	time.Sleep(settling)
	s.mu.Lock()
	defer s.mu.Unlock()
	return evidence{"taskId": id, "notifications": append([]any{}, s.notifications...)}, nil
}

func listFlow(s *session) (evidence, error) {
	for range manyTasks {
		if _, _, err := s.create("instant"); err != nil {
			return nil, err
		}
	}
	pages := []int{}
	request := mcp.ListTasksRequest{}
	for range manyTasks {
		page, err := s.client.ListTasksByPage(s.ctx, request)
		if err != nil {
			return nil, err
		}
		pages = append(pages, len(page.Tasks))
		if page.NextCursor == "" {
			break
		}
		request.Params.Cursor = page.NextCursor
	}
	request.Params.Cursor = "not-a-cursor"
	page, err := s.client.ListTasksByPage(s.ctx, request)
	return evidence{"pages": pages, "badCursor": attempt(page, err)}, nil
}
