package demo

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// The revisions this server speaks, whose names sort by age. Tasks, questions
// that lead to a URL and priming events are in the newest only.
const (
	legacyNewest = "2025-11-25"
	legacyMiddle = "2025-06-18"
	legacyOldest = "2025-03-26"
)

func speaks(version string) bool {
	return version == legacyNewest || version == legacyMiddle || version == legacyOldest
}

const (
	// maxSessions is how many sessions are kept at a time.
	maxSessions = 10_000
	// sessionIdle is how long a session is kept that nobody uses.
	sessionIdle = 30 * time.Minute
)

// Legacy is a server of MCP 2025-11-25 with tasks, which also serves clients
// of 2025-06-18 and 2025-03-26, on whatever path it is mounted. Tasks belong to
// the session that made them and end with it. It holds everything in memory
// only and is safe for concurrent use.
type Legacy struct {
	opts    Options
	tools   *catalogue
	jobs    *jobs
	methods map[string]legacyMethod

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	flights  sync.WaitGroup // requests being served, and calls that outlive theirs
}

var _ http.Handler = (*Legacy)(nil)

// NewLegacy makes a server that runs until Close. StrictTaskNames has no
// meaning for it.
func NewLegacy(opts Options) *Legacy {
	l := &Legacy{opts: opts.withDefaults(), sessions: map[string]*session{}}
	l.tools = newCatalogue(l.announce, visitTool(), signInTool(), rootsTool(), hangUpTool())
	for i := range l.tools.tools {
		withoutHeaders(&l.tools.tools[i])
	}
	l.jobs = newJobs(l.opts.TaskTTL, l.opts.MaxTasks, l.taskChanged)
	l.jobs.forgot = l.taskForgotten
	l.methods = l.table()
	return l
}

// Runs is how often the named tool has run. A call counts when its work
// begins, so one that is cut short, or that only leads to a URL, counts too; one
// that is refused does not.
func (l *Legacy) Runs(tool string) int { return l.tools.tally.of(tool) }

// Close ends every session, stream and task, and returns when nothing of the
// server runs any more. A closed server answers 503. Close it before shutting
// an http.Server down, which would wait for open streams.
func (l *Legacy) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	for _, s := range l.everyone() {
		l.end(s, errClosing)
	}
	l.flights.Wait()
	l.jobs.close()
}

// everyone lists the sessions there are.
func (l *Legacy) everyone() []*session {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]*session, 0, len(l.sessions))
	for _, s := range l.sessions {
		out = append(out, s)
	}
	return out
}

// enter counts a request in, unless the server is closed.
func (l *Legacy) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.flights.Add(1)
	return true
}

// ServeHTTP serves the endpoint of the Streamable HTTP transport. Spec:
// 2025-11-25 basic/transports.
func (l *Legacy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rep := newReply(w, r)
	if !l.enter() {
		rep.fail(&rpcError{code: codeInternal, message: "the server is closed", status: http.StatusServiceUnavailable})
		return
	}
	defer l.flights.Done()
	if err := l.admit(w, r); err != nil {
		rep.fail(err)
		return
	}
	serve := map[string]func(*reply, http.ResponseWriter, *http.Request) error{
		http.MethodPost: l.post, http.MethodGet: l.listen, http.MethodDelete: l.remove,
	}[r.Method]
	if err := serve(rep, w, r); err != nil {
		rep.fail(err)
	}
}

// remove ends a session as its client asks for. Spec: "Session Management".
func (l *Legacy) remove(_ *reply, w http.ResponseWriter, r *http.Request) error {
	s, err := l.find(r)
	if err != nil {
		return err
	}
	l.end(s, errEnded)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Why the work for a session or a call stops early.
var (
	errEnded     error = &rpcError{code: codeInternal, message: "the session has ended"}
	errCancelled       = errors.New("cancelled by the client")
)

// silent says whether an end leaves nobody to answer.
func silent(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, errCancelled) || errors.Is(cause, errGone)
}
