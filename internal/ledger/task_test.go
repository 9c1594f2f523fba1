//go:build interop

package ledger_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// kind is what a task is made of.
type kind struct {
	face, era string // of the route and of the backend
	tool      string
	hosted    bool // by the bridge: the backend answers the call itself
	cancels   bool // its client cancels it
}

var kinds = []*kind{
	{face: "legacy", era: "modern", tool: "work"},
	{face: "legacy", era: "modern", tool: "ask"},
	{face: "legacy", era: "modern", tool: "work", cancels: true},
	{face: "legacy", era: "modern", tool: "grind", hosted: true},
	{face: "legacy", era: "modern", tool: "ask_first", hosted: true},
	{face: "legacy", era: "modern", tool: "grind", hosted: true, cancels: true},
	{face: "modern", era: "legacy", tool: "work"},
	{face: "modern", era: "legacy", tool: "ask"},
	{face: "modern", era: "legacy", tool: "work", cancels: true},
	{face: "modern", era: "legacy", tool: "grind", hosted: true},
	{face: "modern", era: "legacy", tool: "grind", hosted: true, cancels: true},
	{face: "legacy", era: "legacy", tool: "work"},
	{face: "legacy", era: "legacy", tool: "ask"},
	{face: "legacy", era: "legacy", tool: "work", cancels: true},
	{face: "modern", era: "modern", tool: "work"},
	{face: "modern", era: "modern", tool: "ask"},
	{face: "modern", era: "modern", tool: "work", cancels: true},
}

// String is a row of the report.
func (k *kind) String() string {
	out := fmt.Sprintf("%s → %s, %s", k.face, k.era, k.tool)
	if k.hosted {
		out += ", hosted"
	}
	if k.cancels {
		out += ", cancelled"
	}
	return out
}

// entry is one call in the books of its client.
type entry struct {
	*kind
	number int
	client client // whose it is

	// Handle is the task, empty if the client was not told of one, which cut or refused
	// says why: the call may have been made, or it has been answered with an error.
	handle, cut, refused string

	// plain says that the call was answered without a task, which is no worse.
	plain bool

	made, ended  time.Time
	status, said string // how it has ended: said is the tool's text, or the error's message

	mu       sync.Mutex
	answers  []string // that were sent, the oldest first
	accepted bool     // one of them was
	problems []string
}

// nonce names the call.
func (e *entry) nonce() string { return fmt.Sprint("call-", e.number) }

// length is how long the tool works, in milliseconds. That of each call is its own, so
// that the result says whose it is.
func (e *entry) length() int {
	switch {
	case e.cancels:
		return 300_000 + e.number
	case e.hosted:
		return 1000 + 2*e.number
	default:
		return 400 + e.number
	}
}

// params are those of the call.
func (e *entry) params() map[string]any {
	params := map[string]any{"name": e.tool, "_meta": map[string]any{nonceKey: e.nonce()}}
	if e.tool == "work" || e.tool == "grind" {
		params["arguments"] = map[string]any{"ms": e.length()}
	} else {
		params["arguments"] = map[string]any{}
	}
	return params
}

// right reports whether the task said what its tool says.
func (e *entry) right() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	is := func(answer string) bool {
		return e.said == fmt.Sprintf(`accept {"name":%q}`, answer) || e.said == "Hello, "+answer
	}
	switch e.tool {
	case "work":
		return e.said == fmt.Sprintf("worked %d ms", e.length())
	case "grind":
		return e.said == fmt.Sprintf("ground %d ms", e.length())
	default:
		return slices.ContainsFunc(e.answers, is)
	}
}

// interrupted reports whether the bridge says that it was stopped meanwhile.
func (e *entry) interrupted() bool {
	return e.status == "failed" && strings.Contains(e.said, "interrupted")
}

// problem takes note of what must not be.
func (e *entry) problem(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.problems = append(e.problems, fmt.Sprintf(format, args...))
}

// asked returns the next answer to a question of the task.
func (e *entry) asked() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.accepted {
		e.problems = append(e.problems, "asked again although an answer was accepted")
	}
	e.answers = append(e.answers, fmt.Sprintf("n%d.%d", e.number, len(e.answers)+1))
	return e.answers[len(e.answers)-1]
}

func (e *entry) accept() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.accepted = true
}

// client is a client of one era that follows its tasks to their ends, whatever happens.
type client interface {
	// create makes the call, and notes the handle, or why there is none.
	create(ctx context.Context, e *entry)
	// follow waits for the end of the task. It answers what is asked.
	follow(ctx context.Context, e *entry)
	// look asks how the task has ended.
	look(ctx context.Context, e *entry) (status, said string)
	// list returns the handles of all tasks, or false where the era has no list.
	list(ctx context.Context) (handles []string, ok bool)
}

// patienceOfClients is how long a task may take, with everything that comes between.
const patienceOfClients = 2 * time.Minute

// run sees to one task from its call to its end.
func (e *entry) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patienceOfClients)
	defer cancel()
	e.made = time.Now()
	e.client.create(ctx, e)
	if e.handle != "" {
		e.client.follow(ctx, e)
		if e.status == "" {
			e.problem("it has not ended after %v", time.Since(e.made).Round(time.Second))
		}
	}
	e.ended = time.Now()
}

// pause waits, and reports false when ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// again is how long a client waits before it repeats a request that brought no answer.
const again = 200 * time.Millisecond

// repeats says what a client does about a reply: it may make a request again that was
// not served, and one that does no harm whatever became of it.
func (t *tally) repeats(ctx context.Context, out *reply, harmless bool) bool {
	if ctx.Err() != nil {
		return false
	}
	if wait, unserved := out.later(); unserved {
		t.add("told to come back later (503)")
		return pause(ctx, wait)
	}
	switch {
	case !harmless:
		return false
	case out.silence != nil:
		t.add("no answer, asked again")
	case out.Error != nil && out.Error.Code == codeInternal:
		t.add("internal error, asked again")
	default:
		return false
	}
	return pause(ctx, again)
}

const codeInternal = -32603
