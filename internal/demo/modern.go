package demo

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// modernVersion is the one revision this server speaks.
const modernVersion = "2026-07-28"

// tasksExtension is the extension whose methods and results it also speaks.
const tasksExtension = "io.modelcontextprotocol/tasks"

// Reserved _meta keys.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaLevel        = "io.modelcontextprotocol/logLevel"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaProgress     = "progressToken"
)

// Options shape a demo server. The zero value serves loopback callers.
type Options struct {
	// TaskTTL is how long a task is kept from its creation; 0 is five minutes.
	TaskTTL time.Duration
	// PollInterval is what clients are told to wait between polls; 0 is 200 ms.
	PollInterval time.Duration
	// MaxTasks is how many tasks are kept at a time; 0 is 100,000.
	MaxTasks int
	// PageSize splits the lists into pages; 0 gives each in one page.
	PageSize int
	// Hosts are the names, without port, that a Host or Origin header may
	// carry; nil is localhost, 127.0.0.1 and [::1].
	Hosts []string
	// StrictTaskNames refuses tasks/* requests without an Mcp-Name header.
	// The extension makes clients send it, but a widely used one does not. A
	// header that names another task is refused in any case.
	StrictTaskNames bool
}

func (o Options) withDefaults() Options {
	if o.TaskTTL <= 0 {
		o.TaskTTL = 5 * time.Minute
	}
	if o.PollInterval <= 0 {
		o.PollInterval = 200 * time.Millisecond
	}
	if o.MaxTasks <= 0 {
		o.MaxTasks = 100_000
	}
	if o.Hosts == nil {
		o.Hosts = []string{"localhost", "127.0.0.1", "[::1]"}
	}
	return o
}

// Modern is a server of MCP 2026-07-28 with the extension
// io.modelcontextprotocol/tasks, on whatever path it is mounted. It holds
// tasks in memory only and is safe for concurrent use.
type Modern struct {
	opts    Options
	tools   *catalogue
	jobs    *jobs
	hub     *hub
	sealer  sealer
	methods map[string]method

	ctx  context.Context // ends when Close is called
	stop context.CancelFunc

	mu      sync.Mutex
	closed  bool
	flights sync.WaitGroup // requests being served
}

var _ http.Handler = (*Modern)(nil)

var (
	errClosing error = &rpcError{code: codeInternal, message: "the server is closing"}
	errGone          = errors.New("the client cannot be reached")
)

// NewModern makes a server that runs until Close.
func NewModern(opts Options) *Modern {
	ctx, stop := context.WithCancel(context.Background())
	m := &Modern{opts: opts.withDefaults(), hub: newHub(), sealer: newSealer(), ctx: ctx, stop: stop}
	m.tools = newCatalogue(m.hub.announce)
	m.jobs = newJobs(m.opts.TaskTTL, m.opts.MaxTasks, func(s snapshot) {
		m.hub.publish(notice{method: "notifications/tasks", task: s.id, params: m.taskView(s)})
	})
	m.methods = m.table()
	return m
}

// Runs is how often the named tool has run. A call counts when its work
// begins, so one that is cut short counts too; a round that only asked a
// question does not.
func (m *Modern) Runs(tool string) int { return m.tools.tally.of(tool) }

// Close ends every stream and task, and returns when nothing of the server
// runs any more. Listeners get the result that marks a graceful end. A closed
// server answers 503. Close it before shutting an http.Server down, which
// would wait for open streams.
func (m *Modern) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.stop()
	m.flights.Wait()
	m.jobs.close()
}

// enter counts a request in, unless the server is closed.
func (m *Modern) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.flights.Add(1)
	return true
}

// ServeHTTP serves one POST of the Streamable HTTP transport.
func (m *Modern) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rep := newReply(w, r)
	if !m.enter() {
		rep.fail(&rpcError{code: codeInternal, message: "the server is closed", status: http.StatusServiceUnavailable})
		return
	}
	defer m.flights.Done()

	body, err := m.admit(w, r)
	if err != nil {
		rep.fail(err)
		return
	}
	msg, err := readMessage(body)
	rep.id = msg.id
	if err != nil {
		rep.fail(err)
		return
	}
	if msg.id == nil { // a notification; over HTTP the revision defines none that matter here
		w.WriteHeader(http.StatusAccepted)
		return
	}
	req, err := m.judge(r, msg)
	if err != nil {
		rep.fail(err)
		return
	}
	m.serve(r.Context(), req, rep)
}

// serve answers a request that has passed every check of its envelope.
func (m *Modern) serve(ctx context.Context, req *request, rep *reply) {
	// a client that leaves cancels its request; so does Close
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(m.ctx, func() { cancel(errClosing) })() //nolint:contextcheck // it watches the server's life beside the request's

	result, err := m.methods[req.method].serve(ctx, req, rep)
	switch {
	case err == nil:
		rep.finish(m.finished(result))
	case errors.Is(err, errGone), ctx.Err() != nil && !errors.Is(err, errClosing):
		// the client has left: nothing more may be sent for this request
	default:
		rep.fail(err)
	}
}

// finished adds what every result carries.
func (m *Modern) finished(result object) object {
	if result["resultType"] == nil {
		result["resultType"] = "complete"
	}
	meta, _ := result["_meta"].(object)
	if meta == nil {
		meta = object{}
		result["_meta"] = meta
	}
	meta[metaServer] = object{
		"name": "taskbridge-demo-modern", "title": "taskbridge demo (2026-07-28)", "version": "1.0.0",
	}
	return result
}
