package mapping_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/golden"
	"github.com/taskbridge/taskbridge/internal/golden/goldentest"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

const goldenRoot = "../testdata/golden"

// suites are the suites of this package. Other files of the package add theirs
// when they are initialised.
var suites = []goldentest.Suite{
	taskSuite("get", "down-*", "modern.result", "legacy.result", goldenDownTask),
	taskSuite("get", "up-*", "legacy.result", "modern.result", goldenUpTask),
	taskSuite("create", "down-*", "modern.result", "legacy.result", goldenDownCreate),
	taskSuite("create", "up-*", "legacy.result", "modern.result", goldenUpCreate),
	taskSuite("create", "metadata-*", "legacy.params", "metadata", goldenMetadata),
	taskSuite("create", "hosted-*", "hosted", "modern.result", goldenHosted),
	taskSuite("create", "rebased-*", "modern.result", "modern.rebased", goldenRebased),
	taskSuite("result", "down-*", "modern.result", "legacy.result", goldenDownPayload),
	taskSuite("update", "up-*", "answers", "modern.params", goldenUpUpdate),
	taskSuite("update", "down-*", "modern.params", "legacy.responses", goldenDownUpdate),
	taskSuite("cancel", "up-*", "legacy.params", "modern.params", goldenUpParams),
	taskSuite("cancel", "down-*", "modern.params", "legacy.params", goldenDownParams),
	taskSuite("cancel", "ack-*", "legacy.result", "modern.result", goldenAck),
	taskSuite("cancel", "overlay-*", "modern.result", "modern.overlay", goldenOverlay),
	taskSuite("list", "down-*", "tasks", "legacy.result", goldenDownList),
	taskSuite("notify", "down-*", "modern.params", "legacy.params", goldenDownStatus),
	taskSuite("notify", "up-*", "legacy.params", "modern.params", goldenUpNotification),
	taskSuite("input", "down-*", "modern.entry", "legacy.params", goldenDownQuestion),
	taskSuite("input", "up-*", "legacy.params", "modern.entry", goldenUpQuestion),
	taskSuite("input", "answer-up-*", "legacy.result", "modern.answer", goldenUpAnswer),
	taskSuite("input", "answer-down-*", "modern.answer", "legacy.result", goldenDownAnswer),
	taskSuite("input", "url-*", "legacy.error", "modern.requests", goldenUpURLs),
	taskSuite("errors", "down-*", "modern.error", "legacy.error", goldenDownError),
	taskSuite("errors", "up-*", "legacy.error", "modern.error", goldenUpError),
}

func TestGolden(t *testing.T) {
	goldentest.Run(t, goldenRoot, suites...)
}

// TestGoldenFilesAreRead: no file of the directory is there for show, whichever
// package plays it.
func TestGoldenFilesAreRead(t *testing.T) {
	t.Parallel()
	elsewhere := goldentest.Suite{Dir: "conversation", Package: "../adapter"}
	goldentest.Covered(t, goldenRoot, append(slices.Clone(suites), elsewhere)...)
}

// goldenOptions are the arguments of a translation beside its message.
type goldenOptions struct {
	Handle              string
	FirstSeen           string
	Answered            bool
	ToolErrorsCompleted bool
	Wrapped             bool
	Version             string
	ElicitationID       string
	TaskID              string
	Method              string
	Params              json.RawMessage
	Capabilities        json.RawMessage
	ServerInfo          json.RawMessage
	SubscriptionID      json.RawMessage
	NextCursor          string
	Status              string
	Message             string
	At                  string
	Questions           map[string]json.RawMessage
}

func taskSuite(dir, glob, in, out string, run func(*goldenCase)) goldentest.Suite {
	return goldentest.Suite{
		Dir:  dir,
		Glob: glob + golden.Ext,
		Schema: golden.Schema{
			Inputs:  []string{"method", "options", in, "payload.*", "entry.*"},
			Outputs: []string{out, "error", "declared", "legacy.task"},
		},
		Func: func(t *testing.T, c *goldentest.Case) {
			t.Parallel()
			g := &goldenCase{T: t, c: c, in: wire.Value(c.Section(in)), out: out}
			if _, err := wire.Check([]byte(g.in)); err != nil {
				t.Fatalf("section %s: %v", in, err)
			}
			g.method = string(c.Section("method"))
			if _, ok := mapping.Lookup(g.method); !ok {
				t.Fatalf("method %q is in no era", g.method)
			}
			g.o = goldenOptions{Handle: "h1", FirstSeen: "2026-01-01T00:00:00.000Z"}
			if text, ok := c.Optional("options"); ok {
				decoder := json.NewDecoder(bytes.NewReader(text))
				decoder.DisallowUnknownFields()
				if err := decoder.Decode(&g.o); err != nil {
					t.Fatalf("section options: %v", err)
				}
			}
			run(g)
		},
	}
}

// goldenCase is one case while it runs.
type goldenCase struct {
	*testing.T
	c      *goldentest.Case
	method string
	o      goldenOptions
	in     wire.Value
	out    string
}

// prefix stands for what a caller has in its buffer already.
const prefix = `{"before":1}`

// done hands in the outcome of a translation that appended to prefix.
func (g *goldenCase) done(buf []byte, notes mapping.Notes, err error) {
	g.Helper()
	rest, ok := bytes.CutPrefix(buf, []byte(prefix))
	if !ok {
		g.Fatalf("the caller's bytes are gone: %s", buf)
	}
	g.c.Notes(notes.String())
	if err != nil {
		if len(rest) > 0 {
			g.Errorf("bytes beside an error: %s", rest)
		}
		g.c.Got("error", clientError(g.T, err))
		return
	}
	if len(rest) > 0 {
		if _, err := wire.Check(rest); err != nil {
			g.Errorf("the output is no JSON: %v\n%s", err, rest)
		}
	}
	g.c.Got(g.out, rest)
}

// clientError renders the error object that a client gets for err.
func clientError(t testing.TB, err error) []byte {
	t.Helper()
	var own *jsonrpc.Error
	var failure *mapping.Error
	var decode *wire.DecodeError
	switch {
	case errors.As(err, &own):
	case errors.As(err, &failure):
		own = failure.RPC()
	case errors.As(err, &decode):
		own = jsonrpc.FromDecode(decode)
	default:
		t.Fatalf("an error of unexpected type %T: %v", err, err)
	}
	return jsonrpc.AppendErrorObject(nil, own)
}

func (g *goldenCase) taskOptions() mapping.TaskOptions {
	return mapping.TaskOptions{FirstSeen: g.o.FirstSeen, Answered: g.o.Answered, ToolErrorsCompleted: g.o.ToolErrorsCompleted}
}

// modern reads the input as a modern task; a malformed one is the case's outcome.
func (g *goldenCase) modern() (ext2026.Task, bool) {
	task, err := mapping.ReadDownTask(g.method, g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
	}
	return task, err == nil
}

func (g *goldenCase) legacy() (legacy2025.Task, bool) {
	task, err := mapping.ReadUpTask(g.method, g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
	}
	return task, err == nil
}

func goldenDownTask(g *goldenCase) {
	task, ok := g.modern()
	if !ok {
		return
	}
	out, notes, err := mapping.AppendDownTask([]byte(prefix), task, g.o.Handle, g.taskOptions())
	g.done(out, notes, err)
	if err == nil && !g.o.Answered {
		if back, _, ok := upAgain(g.T, task, wire.Value(out[len(prefix):])); ok {
			g.c.Roundtrip("modern.result", back)
		}
	}
}

func goldenUpTask(g *goldenCase) {
	task, ok := g.legacy()
	if !ok {
		return
	}
	o := mapping.UpTaskOptions{
		FirstSeen: g.o.FirstSeen, ServerInfo: wire.Value(g.o.ServerInfo), Payload: g.payload(), Requests: g.entries(), Message: g.o.Message,
	}
	out, notes, err := mapping.AppendUpTask([]byte(prefix), task, g.o.Handle, o)
	g.done(out, notes, err)
	if err == nil {
		back, _ := downAgain(g.T, task, wire.Value(out[len(prefix):]))
		g.c.Roundtrip("legacy.result", back)
	}
}

// payload is what tasks/result answered.
func (g *goldenCase) payload() mapping.Payload {
	if text, ok := g.c.Optional("payload.result"); ok {
		return mapping.Payload{Result: wire.Value(text)}
	}
	if text, ok := g.c.Optional("payload.error"); ok {
		failure, err := jsonrpc.ParseError(wire.Value(text), "error")
		if err != nil {
			g.Fatal(err)
		}
		return mapping.Payload{Error: failure}
	}
	return mapping.Payload{}
}

// entries are the outstanding questions, from sections entry.KEY.
func (g *goldenCase) entries() []mapping.InputEntry {
	for key := range g.o.Questions {
		g.Fatalf("options.questions.%s: questions of a legacy server stand in sections entry.KEY", key)
	}
	if !g.c.Has("entry.k1") {
		return nil
	}
	var entries []mapping.InputEntry
	for _, section := range g.c.Inputs("entry.*") {
		_, key, _ := strings.Cut(section.Name, ".")
		entries = append(entries, mapping.InputEntry{Key: key, Request: wire.Value(section.Body)})
	}
	return entries
}

func goldenDownCreate(g *goldenCase) {
	task, ok := g.modern()
	if !ok {
		return
	}
	g.done(mapping.AppendDownCreateTask([]byte(prefix), task, g.o.Handle, g.taskOptions()))
}

func goldenUpCreate(g *goldenCase) {
	if !legacy2025.IsCreateTaskResult(g.in) {
		g.Fatal("not a CreateTaskResult")
	}
	created, err := mapping.ReadUpCreateTask(g.in)
	if err != nil {
		g.done([]byte(prefix), 0, err)
		return
	}
	o := mapping.UpTaskOptions{FirstSeen: g.o.FirstSeen, ServerInfo: wire.Value(g.o.ServerInfo)}
	g.done(mapping.AppendUpCreateTask([]byte(prefix), created, g.o.Handle, o))
}

func goldenMetadata(g *goldenCase) {
	metadata, err := legacy2025.ParseTaskMetadata(g.in)
	buf := []byte(prefix)
	if err == nil {
		buf = fmt.Appendf(buf, `{"asked":%t,"hasTTL":%t,"ttlMs":%d}`, metadata.Asked, metadata.HasTTL, metadata.TTLMs)
	}
	g.done(buf, 0, err)
}

func goldenDownPayload(g *goldenCase) {
	task, ok := g.modern()
	if !ok {
		return
	}
	o := mapping.ResultOptions{Version: g.o.Version, Wrapped: g.o.Wrapped}
	g.done(mapping.AppendDownTaskPayload([]byte(prefix), task, g.o.Handle, o))
}

func goldenDownStatus(g *goldenCase) {
	task, ok := g.modern()
	if !ok {
		return
	}
	g.done(mapping.AppendDownTaskStatus([]byte(prefix), task, g.o.Handle, g.taskOptions()))
}

func goldenUpNotification(g *goldenCase) {
	task, ok := g.legacy()
	if !ok {
		return
	}
	o := mapping.UpTaskOptions{FirstSeen: g.o.FirstSeen, Payload: g.payload(), Requests: g.entries()}
	g.done(mapping.AppendUpTaskNotification([]byte(prefix), task, g.o.Handle, wire.Value(g.o.SubscriptionID), o))
}

func goldenDownList(g *goldenCase) {
	var page []wire.Value
	var notes mapping.Notes
	for _, doc := range g.in.Elements() {
		task, err := mapping.ReadDownTask(g.method, doc)
		if err != nil {
			g.Fatal(err)
		}
		item, more, err := mapping.AppendDownTask(nil, task, g.o.Handle+"-"+task.ID(), g.taskOptions())
		if err != nil {
			g.Fatal(err)
		}
		page, notes = append(page, wire.Value(item)), notes|more
	}
	g.done(mapping.AppendDownTaskList([]byte(prefix), page, g.o.NextCursor), notes, nil)
}
