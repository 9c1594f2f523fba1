package mapping_test

import (
	"fmt"
	"strings"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// envelope is the envelope of every request to a modern backend in the goldens.
var envelope = mapping.Envelope{
	ClientInfo:   `{"name":"orbit","version":"3.1.0"}`,
	Capabilities: `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
}

func goldenUpParams(g *goldenCase) {
	id, err := legacy2025.ParseTaskID(g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	if id != g.o.Handle {
		g.Fatalf("params.taskId is %q, want the handle %q", id, g.o.Handle)
	}
	g.done(mapping.AppendUpTaskParams([]byte(prefix), g.in, g.o.TaskID, envelope))
}

func goldenDownParams(g *goldenCase) {
	id, err := ext2026.ParseTaskID(g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	if id != g.o.Handle {
		g.Fatalf("params.taskId is %q, want the handle %q", id, g.o.Handle)
	}
	g.done(mapping.AppendDownTaskParams([]byte(prefix), g.in, g.o.TaskID))
}

func goldenAck(g *goldenCase) {
	out, notes := mapping.AppendUpCancelAck([]byte(prefix), g.in, wire.Value(g.o.ServerInfo))
	g.done(out, notes, nil)
}

func goldenOverlay(g *goldenCase) {
	if _, ok := g.modern(); !ok {
		return
	}
	status := ext2026.Status(g.o.Status)
	if status == "" {
		g.done(mapping.AppendFailedOverlay([]byte(prefix), g.in, g.o.Message, g.o.At), 0, nil)
		return
	}
	g.done(mapping.AppendTaskOverlay([]byte(prefix), g.in, status, g.o.Message, g.o.At), 0, nil)
}

func goldenRebased(g *goldenCase) {
	if _, ok := g.modern(); !ok {
		return
	}
	g.done(mapping.AppendTaskRebased([]byte(prefix), g.in, g.o.At), 0, nil)
}

// goldenHosted reads the members of mapping.HostedTask by their own names.
func goldenHosted(g *goldenCase) {
	text := func(name string) string { s, _ := g.in.Get(name).Text(); return s }
	number := func(name string) int64 { n, _ := g.in.Get(name).Int(); return n }
	task := mapping.HostedTask{
		ID: text("ID"), Status: ext2026.Status(text("Status")), StatusMessage: text("StatusMessage"),
		CreatedAt: text("CreatedAt"), LastUpdatedAt: text("LastUpdatedAt"),
		TTLMs: number("TTLMs"), PollIntervalMs: number("PollIntervalMs"), Result: g.in.Get("Result"),
	}
	if v := g.in.Get("Error"); v.Present() {
		failure, err := jsonrpc.ParseError(v, "Error")
		if err != nil {
			g.Fatal(err)
		}
		task.Error = failure
	}
	for m := range g.in.Get("Requests").Members() {
		task.Requests = append(task.Requests, mapping.InputEntry{Key: m.Name, Request: m.Value})
	}
	out := mapping.AppendHostedTask([]byte(prefix), task)
	if _, err := mapping.ReadDownTask(g.method, wire.Value(out[len(prefix):])); err != nil {
		g.Errorf("the document does not read back: %v", err)
	}
	legacy := mapping.AppendUpHostedTask([]byte(prefix), task)
	if _, err := mapping.ReadUpTask(g.method, wire.Value(legacy[len(prefix):])); err != nil {
		g.Errorf("the legacy document does not read back: %v", err)
	}
	g.c.Got("legacy.task", legacy[len(prefix):])
	g.done(out, 0, nil)
}

// goldenUpUpdate sends the answers of a legacy client, by key and with their
// questions in options.
func goldenUpUpdate(g *goldenCase) {
	var answers []mapping.InputAnswer
	var notes mapping.Notes
	for m := range g.in.Members() {
		question, err := ext2026.ParseInputRequest(wire.Value(g.o.Questions[m.Name]), "options.questions."+m.Name)
		if err != nil {
			g.Fatal(err)
		}
		answer, more, err := mapping.AppendUpInputResponse(nil, question, m.Value)
		if err != nil {
			g.Fatal(err)
		}
		answers, notes = append(answers, mapping.InputAnswer{Key: m.Name, Answer: wire.Value(answer)}), notes|more
	}
	g.done(mapping.AppendUpUpdateParams([]byte(prefix), g.o.TaskID, answers, envelope), notes, nil)
}

// goldenDownUpdate turns tasks/update into one response per question it answers.
func goldenDownUpdate(g *goldenCase) {
	update, err := ext2026.ParseUpdateParams(g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	out, notes := append([]byte(prefix), '['), mapping.Notes(0)
	for _, m := range update.Responses.Members() {
		question, ok := g.o.Questions[m.Name]
		if !ok {
			continue
		}
		params := wire.Value(question).Get("params")
		method, _ := wire.Value(question).Get("method").Text()
		answer, more, err := mapping.AppendDownInputResponse(nil, method, params, m.Value, g.o.TaskID, "params.inputResponses."+m.Name)
		if err != nil {
			g.done([]byte(prefix), 0, err)
			return
		}
		if out[len(out)-1] != '[' {
			out = append(out, ',')
		}
		out, notes = append(out, answer...), notes|more
	}
	g.done(append(out, ']'), notes, nil)
}

func goldenDownQuestion(g *goldenCase) {
	question, err := ext2026.ParseInputRequest(g.in, "")
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	if len(g.o.Capabilities) > 0 {
		version := g.o.Version
		if version == "" {
			version = legacy2025.Latest
		}
		g.c.Got("declared", fmt.Append(nil, mapping.MayAskDown(wire.Value(g.o.Capabilities), version, question)))
	}
	o := mapping.QuestionOptions{TaskID: g.o.Handle, ElicitationID: g.o.ElicitationID, Version: g.o.Version}
	if o.TaskID == "none" {
		o.TaskID = ""
	}
	g.done(mapping.AppendDownInputRequest([]byte(prefix), question, o))
}

func goldenUpQuestion(g *goldenCase) {
	if len(g.o.Capabilities) > 0 {
		may, kind := mapping.MayAskUp(wire.Value(g.o.Capabilities), g.method, g.in)
		g.c.Got("declared", fmt.Appendf(nil, "may %t, kind %t", may, kind))
	}
	g.done(mapping.AppendUpInputRequest([]byte(prefix), g.method, absent(g.in)))
}

// absent reads null as no value, since a section of a golden file cannot be
// missing and hold something at the same time.
func absent(v wire.Value) wire.Value {
	if v == wire.Null {
		return ""
	}
	return v
}

func goldenUpAnswer(g *goldenCase) {
	question := ext2026.InputRequest{Method: g.method, Params: wire.Value(g.o.Params)}
	g.done(mapping.AppendUpInputResponse([]byte(prefix), question, g.in))
}

func goldenDownAnswer(g *goldenCase) {
	g.done(mapping.AppendDownInputResponse([]byte(prefix), g.method, wire.Value(g.o.Params), g.in, g.o.TaskID, "params.inputResponses.k"))
}

func goldenUpURLs(g *goldenCase) {
	failure, err := jsonrpc.ParseError(g.in, "error")
	if err != nil {
		g.Fatal(err)
	}
	list, err := legacy2025.ParseURLElicitations(failure.Data)
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	g.done(mapping.AppendUpURLElicitations([]byte(prefix), list), 0, nil)
}

func goldenDownError(g *goldenCase) {
	failure, err := jsonrpc.ParseError(g.in, "error")
	if err != nil {
		g.Fatal(err)
	}
	if mapping.URLElicitationPasses(failure, wire.Value(g.o.Capabilities), strings.TrimSpace(g.o.Version)) {
		g.c.Got("declared", []byte("passes"))
	}
	out := jsonrpc.AppendErrorObject([]byte(prefix), mapping.DownError(g.method, wire.Value(g.o.Params), failure))
	g.done(out, 0, nil)
}

func goldenUpError(g *goldenCase) {
	failure, err := jsonrpc.ParseError(g.in, "error")
	if err != nil {
		g.Fatal(err)
	}
	g.done(jsonrpc.AppendErrorObject([]byte(prefix), mapping.UpError(g.method, failure)), 0, nil)
}
