//go:build interop

package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// books are those of all clients together.
type books struct {
	*fleet
	tally   *tally
	entries []*entry
	clients []client
}

// grace is how long the end of a hosted call may take from the backend into the
// store, while Redis is there.
const grace = 2 * time.Second

// audit holds the books of the clients against those of the backends, and of the one
// who killed. Whatever does not agree is an error of the test.
func (b *books) audit() {
	b.Helper()
	b.look(b.entries)
	b.lists()
	for _, era := range []string{"modern", "legacy"} {
		j := b.journal(era)
		byNonce := make(map[string][]*call)
		for _, c := range j.Calls {
			byNonce[c.Nonce] = append(byNonce[c.Nonce], c)
		}
		for _, e := range b.entries {
			if e.era == era {
				b.once(e, byNonce[e.nonce()], j.Answers)
				b.ends(e, byNonce[e.nonce()])
				delete(byNonce, e.nonce())
			}
		}
		for nonce, calls := range byNonce {
			b.Errorf("%s backend: call %q, which nobody has made: %+v", era, nonce, calls[0])
		}
	}
	b.complain(b.entries)
}

// complain makes the problems of tasks errors of the test.
func (b *books) complain(entries []*entry) {
	b.Helper()
	for _, e := range entries {
		for _, p := range e.problems {
			b.Errorf("%s (%s, %s): %s", e.nonce(), e.kind, e.made.Format(clock), p)
		}
	}
}

const clock = "15:04:05.000"

// look asks once more after tasks: what has ended stays as it was.
func (b *books) look(entries []*entry) {
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	for _, e := range entries {
		if e.handle == "" || e.status == "" {
			continue
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(b.Context(), patience)
			defer cancel()
			if status, said := e.client.look(ctx, e); status != e.status || said != e.said {
				e.problem("ended %s with %q, and is %s with %q now", e.status, e.said, status, said)
			}
		})
	}
	group.Wait()
}

// lists asks every client of an era with a list for it: it has every task, once.
func (b *books) lists() {
	for _, c := range b.clients {
		ctx, cancel := context.WithTimeout(b.Context(), patience)
		handles, ok := c.list(ctx)
		cancel()
		if !ok {
			continue
		}
		listed := make(map[string]int)
		for _, h := range handles {
			listed[h]++
		}
		own := 0
		for _, e := range b.entries {
			if e.client != c || e.handle == "" {
				continue
			}
			own++
			if n := listed[e.handle]; n != 1 {
				e.problem("%d times in a list of %d", n, len(handles))
			}
		}
		// Beside those there may be tasks that their client was not told of.
		if len(listed) != len(handles) || len(listed) < own {
			b.Errorf("a list of %d has %d different tasks, and its client has made %d", len(handles), len(listed), own)
		}
	}
}

// once checks that a call was made once, and once more with its answers at most, and
// that no question was answered twice.
func (b *books) once(e *entry, calls []*call, answers map[string]int) {
	first, more := 0, 0
	for _, c := range calls {
		if c.Again {
			more++
		} else {
			first++
		}
	}
	if first > 1 || more > 1 || more > 0 && e.tool != "ask_first" {
		e.problem("the backend was called %d times, and %d times with answers", first, more)
	}
	if e.handle != "" && first == 0 {
		e.problem("the backend was never called")
	}
	arrived := 0
	for _, a := range e.answers {
		if answers[a] > 0 {
			arrived++
		}
	}
	if arrived > 1 {
		e.problem("%d different answers to one question have arrived: %q", arrived, e.answers)
	}
}

// ends checks how a task has ended.
func (b *books) ends(e *entry, calls []*call) {
	switch {
	case e.plain && !e.right():
		e.problem("answered with %q", e.said)
	case e.handle == "" || e.status == "":
	case e.cancels && e.status == "cancelled":
	case e.cancels && !e.interrupted():
		e.problem("cancelled, and ended %s with %q", e.status, e.said)
	case e.hosted:
		b.hosted(e, calls)
	case e.status != "completed" || !e.right():
		e.problem("ended %s with %q", e.status, e.said)
	}
	if e.handle != "" && e.status != "" && !e.hosted && len(calls) > 0 {
		b.proxied(e, calls[0])
	}
}

// proxied compares the end of a task with what its backend says of it.
func (b *books) proxied(e *entry, c *call) {
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	status, said, err := b.ask(ctx, e.era, c)
	switch {
	case err != nil:
		e.problem("its backend: %v", err)
	case status == e.status && (status == "cancelled" || said == e.said):
	default:
		e.problem("ended %s with %q, at the backend %s with %q", e.status, e.said, status, said)
	}
}

// ask asks a backend itself how a task of it has ended.
func (b *books) ask(ctx context.Context, era string, c *call) (status, said string, err error) {
	if c.Task == "" {
		return "", "", errors.New("made no task of it")
	}
	url := b.backends[era].url + "/audit/mcp"
	switch {
	case era == "legacy" && c.Status != "":
		return c.Status, c.Said, nil
	case era == "legacy":
		return askLegacy(ctx, url, c)
	}
	direct := &modernClient{tally: newTally(), url: url}
	out := direct.request(ctx, "tasks/get", c.Task, object{"taskId": c.Task}, false, nil)
	var task modernTask
	if err := json.Unmarshal(out.Result, &task); err != nil {
		return "", "", fmt.Errorf("%s: %w", &out, err)
	}
	return task.Status, task.said(), nil
}

// askLegacy asks a legacy backend at url.
func askLegacy(ctx context.Context, url string, c *call) (status, said string, err error) {
	h := http.Header{"Mcp-Session-Id": {c.Session}}
	out := send(ctx, http.MethodPost, url, h, object{"jsonrpc": "2.0", "id": "audit", "method": "tasks/get", "params": object{"taskId": c.Task}}, nil)
	var task legacyTask
	if err := json.Unmarshal(out.Result, &task); err != nil {
		return "", "", fmt.Errorf("%s: %w", &out, err)
	}
	if !over(task.Status) {
		return task.Status, "", nil
	}
	out = send(ctx, http.MethodPost, url, h, object{"jsonrpc": "2.0", "id": "audit-2", "method": "tasks/result", "params": object{"taskId": c.Task}}, nil)
	return task.Status, outcome(&out), nil
}

// hosted checks the end of a task that the bridge hosts: that of the call, unless the
// process that made it was stopped before it could have the end on record. An end that
// says so is one only of such a task.
func (b *books) hosted(e *entry, calls []*call) {
	if !e.interrupted() {
		if e.status != "completed" || !e.right() {
			e.problem("ended %s with %q", e.status, e.said)
		}
		for _, c := range calls {
			if c.Left || c.Ended.IsZero() {
				e.problem("completed, though its call was cut at %s", c.Ended.Format(clock))
			}
		}
		return
	}
	if len(calls) == 0 {
		return // which is a problem already
	}
	last := calls[len(calls)-1]
	died := b.died(last.By)
	switch {
	case e.tool == "ask_first" && !last.Again:
		// Its answers were accepted by some process that was to make the call again.
		if !b.anyDied(last.Ended, e.ended) {
			e.problem("interrupted between its calls, and nobody was killed")
		}
	case died.IsZero():
		e.problem("interrupted, and process %s was not stopped", last.By)
	case last.Began.After(died):
		e.problem("interrupted before it began")
	case !last.Left && died.Sub(last.Ended) > grace && !b.away(last.Ended, died):
		e.problem("interrupted, though its call had ended %v before the process", died.Sub(last.Ended))
	}
}

// died is when a process of the bridge was stopped by force; zero if it was not.
func (b *books) died(name string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.lives[name]; l != nil {
		return l.killed
	}
	return time.Time{}
}

// anyDied reports whether a process was killed in a stretch of time.
func (b *books) anyDied(from, to time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lives {
		if l.killed.After(from) && l.killed.Before(to) {
			return true
		}
	}
	return false
}

// away reports whether Redis was away at some time between two instants.
func (b *books) away(from, to time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.absent, func(s span) bool { return s.from.Before(to) && from.Before(s.to.Add(grace)) })
}
