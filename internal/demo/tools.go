package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// taskUse says when a call of a tool becomes a task.
type taskUse int

const (
	taskNever    taskUse = iota // always answered on the call itself
	taskWhenAble                // a task for a caller that can follow one
	taskAlways                  // refused for a caller that cannot follow one
)

// capability names something a client must be able to do for a tool to work.
type capability string

const (
	capElicitation capability = "elicitation"
	capSampling    capability = "sampling"
	capRoots       capability = "roots"
)

// tool is one entry of tools/list, without saying how an era carries it.
type tool struct {
	name, title, about string
	input              string            // JSON Schema of the arguments
	output             string            // JSON Schema of the structured content; empty if there is none
	use                taskUse           // whether a call becomes a task
	needs              capability        // what its questions need; empty for a tool that asks nothing
	asks               []question        // every question it asks; it never ends without their answers
	asksFirst          bool              // they are settled before a task is created
	headers            map[string]string // the x-mcp-header annotations of input, by argument
	uncounted          bool              // not part of the tally

	// prepare checks the arguments; its error is the tool's answer, not the protocol's.
	prepare func(args) (plan, error)
}

// plan is a call whose arguments are in order, ready to run.
type plan struct {
	run     func(context.Context, host) (output, error)
	instant bool // done in no time: a task of it is born finished
}

// output is what a tool answers with.
type output struct {
	text       string
	structured any // nil if there is none
	isError    bool
}

// host is what a running tool can reach of its caller.
type host interface {
	// say tells how the work stands; only a task shows it.
	say(message string)
	// progress reports one step of a call that is not a task.
	progress(done, total int, message string)
	// log sends a log message of a call that is not a task.
	log(level, message string)
	// ask puts questions to the caller's user or model, all at once, and waits.
	ask(ctx context.Context, questions ...question) (answers, error)
}

// rpcError is a JSON-RPC error: what a peer is told, and what fails a task.
type rpcError struct {
	code    int
	message string
	data    any // nil if there is none
	status  int // HTTP status where the era fixes one; 0 is 200
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (%d)", e.message, e.code) }

// args are the arguments of a call, each as it came.
type args map[string]json.RawMessage

// given returns an argument, or nil if it is absent or null.
func (a args) given(name string) json.RawMessage {
	if raw := a[name]; string(raw) != "null" {
		return raw
	}
	return nil
}

// integer reads a whole number between 0 and limit, or fallback if it is absent.
func (a args) integer(name string, fallback, limit int) (int, error) {
	raw := a.given(name)
	if raw == nil {
		return fallback, nil
	}
	var f float64
	if err := json.Unmarshal(raw, &f); err != nil || f != math.Trunc(f) || f < 0 || f > float64(limit) {
		return 0, fmt.Errorf("%s: want a whole number from 0 to %d", name, limit)
	}
	return int(f), nil
}

// text reads a string that must be there.
func (a args) text(name string) (string, error) {
	var s string
	raw := a.given(name)
	if raw == nil {
		return "", fmt.Errorf("%s: missing", name)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%s: want a string", name)
	}
	return s, nil
}

// fixed makes the prepare function of a tool without arguments.
func fixed(run func(context.Context, host) (output, error)) func(args) (plan, error) {
	return func(args) (plan, error) { return plan{run: run}, nil }
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tally counts how often each tool has run.
type tally struct {
	mu   sync.Mutex
	runs map[string]int
}

func (t *tally) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[name]++
}

func (t *tally) of(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs[name]
}

// catalogue is the fixed set of tools of one server, and their tally.
type catalogue struct {
	tools  []tool // in the order of tools/list
	byName map[string]*tool
	tally  tally
}

// newCatalogue makes the tools of one server; announce tells its listeners
// that a list ("tools", "prompts" or "resources") may have changed.
// more are the tools that one era has beside those of both.
func newCatalogue(announce func(list string), more ...tool) *catalogue {
	c := &catalogue{byName: map[string]*tool{}, tally: tally{runs: map[string]int{}}}
	c.tools = append(c.tools,
		addTool(), workTool(), grindTool(), onlyTaskTool(), structuredTool(), toolErrorTool(), failTool(),
		askTool(), askTwiceTool(), askBothTool(), askFirstTool(), sampleTool(),
		countTool(), locateTool(), announceTool(announce), c.runsTool())
	c.tools = append(c.tools, more...)
	for i := range c.tools {
		c.byName[c.tools[i].name] = &c.tools[i]
	}
	return c
}

// counts is the tally of every counted tool, those that never ran included.
func (c *catalogue) counts() map[string]int {
	out := make(map[string]int, len(c.tools))
	for _, t := range c.tools {
		if !t.uncounted {
			out[t.name] = c.tally.of(t.name)
		}
	}
	return out
}

// unansweredError ends a call that cannot go on before these are answered.
type unansweredError struct{ questions []question }

func (e *unansweredError) Error() string {
	return fmt.Sprintf("%d questions are not answered", len(e.questions))
}

// asRPC is the JSON-RPC error a failed run shows to the peer.
func asRPC(err error) *rpcError {
	var e *rpcError
	if errors.As(err, &e) {
		return e
	}
	return &rpcError{code: codeInternal, message: "internal error: " + err.Error()}
}
