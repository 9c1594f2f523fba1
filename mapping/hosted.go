package mapping

import (
	"strconv"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// HostedTask is a task that lives in the bridge because its backend answered
// the call itself. Instants are RFC 3339 as [FormatTime] writes them.
type HostedTask struct {
	ID            string
	Status        ext2026.Status
	StatusMessage string // left out when empty
	CreatedAt     string
	LastUpdatedAt string
	// TTLMs is the retention counted from CreatedAt; negative means unlimited.
	TTLMs int64
	// PollIntervalMs is the pace that clients are asked for; left out when zero.
	PollIntervalMs int64
	// Result is the result object of a completed task as the backend gave it.
	Result wire.Value
	// Error is the error of a failed task.
	Error *jsonrpc.Error
	// Requests are the questions of a task that needs input.
	Requests []InputEntry
}

// AppendHostedTask appends the DetailedTask of a hosted task, as a modern backend
// would report it, so that it is rendered like any other (A-T8, A-M8).
func AppendHostedTask(dst []byte, task HostedTask) []byte {
	w := wire.Begin(dst)
	task.write(&w, "ttlMs", "pollIntervalMs")
	switch task.Status {
	case ext2026.StatusCompleted:
		w.Value("result", task.Result)
	case ext2026.StatusFailed:
		if task.Error != nil {
			w.Name("error")
			w.SetBuf(jsonrpc.AppendErrorObject(w.Buf(), task.Error))
		}
	case ext2026.StatusInputRequired:
		writeInputRequests(&w, task.Requests)
	default: // the others carry nothing
	}
	return w.End()
}

// AppendUpHostedTask appends the task object of a task that lives in the bridge
// because a legacy backend made none of the call, as that backend would report it
// (host_tasks). Result, error and questions are no part of it in that era.
func AppendUpHostedTask(dst []byte, task HostedTask) []byte {
	w := wire.Begin(dst)
	task.write(&w, "ttl", "pollInterval")
	return w.End()
}

// write writes what a task has in both eras; ttl and pace are the names that its era
// has for them.
func (task *HostedTask) write(w *wire.Writer, ttl, pace string) {
	w.Text("taskId", task.ID)
	w.Text("status", string(task.Status))
	if task.StatusMessage != "" {
		w.Text("statusMessage", task.StatusMessage)
	}
	w.Text("createdAt", task.CreatedAt)
	w.Text("lastUpdatedAt", task.LastUpdatedAt)
	if task.TTLMs < 0 {
		w.Value(ttl, wire.Null)
	} else {
		w.Int(ttl, task.TTLMs)
	}
	if task.PollIntervalMs > 0 {
		w.Int(pace, task.PollIntervalMs)
	}
}

// AppendTaskOverlay appends a modern task document with another status, message
// and time of change, and without outcome and questions: what the bridge knows
// better than the backend (A-T18, A-X1). An empty message leaves statusMessage
// out. at is RFC 3339. doc has been read with [ReadDownTask] before.
func AppendTaskOverlay(dst []byte, doc wire.Value, status ext2026.Status, message, at string) []byte {
	w := wire.Begin(dst)
	for m := range doc.Members() {
		switch {
		case m.Name == "status":
			w.Text("status", string(status))
		case m.Name == "statusMessage", m.Name == "lastUpdatedAt", ext2026.IsPayloadMember(m.Name):
		default:
			w.Copy(m)
		}
	}
	if message != "" {
		w.Text("statusMessage", message)
	}
	w.Text("lastUpdatedAt", at)
	return w.End()
}

// AppendFailedOverlay is [AppendTaskOverlay] for a task that the bridge gave up:
// it is completed with a result that says so as a tool error, which a legacy
// client sees as failed (§4.11).
func AppendFailedOverlay(dst []byte, doc wire.Value, message, at string) []byte {
	buf := AppendTaskOverlay(dst, doc, ext2026.StatusCompleted, message, at)
	buf = append(buf[:len(buf)-1], `,"result":`...)
	return append(AppendDownFailedResult(buf, message, ""), '}')
}

// AppendTaskRebased appends a modern task document with the creation time that the
// client was told first, an RFC 3339 instant. The ttl is adjusted so that the end
// stays where the backend put it, but never below zero (Q38). doc has been read
// with [ReadDownTask] before.
func AppendTaskRebased(dst []byte, doc wire.Value, createdAt string) []byte {
	w := wire.Begin(dst)
	hasCreated := false
	for m := range doc.Members() {
		switch m.Name {
		case "createdAt":
			hasCreated = true
			w.Text("createdAt", createdAt)
		case "ttlMs":
			w.Value("ttlMs", rebasedTTL(m.Value, doc.Get("createdAt"), createdAt))
		default:
			w.Copy(m)
		}
	}
	if !hasCreated {
		w.Text("createdAt", createdAt)
	}
	return w.End()
}

// rebasedTTL returns ttl counted from another instant. What cannot be computed
// with stays as it is.
func rebasedTTL(ttl, from wire.Value, to string) wire.Value {
	floor, ok := ttl.Floor()
	if !ok {
		return ttl
	}
	ms, ok := floor.Int()
	was, known := parseTime(from)
	is, read := parseTimeText(to)
	if !ok || !known || !read || ms < 0 || ms > maxEpoch*1000 {
		return ttl
	}
	ms += (was.sec-is.sec)*1000 + (was.nsec-is.nsec)/1e6
	return wire.Value(strconv.FormatInt(max(0, ms), 10))
}

// TaskChange returns a text that is equal for two documents of one modern task
// when nothing changed that counts: status, statusMessage, ttl, outcome and
// outstanding questions do, lastUpdatedAt does not (PROTOCOL.md "A change of
// status").
func TaskChange(in ext2026.Task) string {
	message, _ := in.StatusMessage()
	ttl, _ := in.TTLMs()
	hash := newDigest()
	hash.add(message)
	hash.add(string(in.Result()))
	hash.add(string(in.Error()))
	for _, m := range in.InputRequests().Members() {
		hash.add(m.Name)
	}
	return string(in.Status()) + " " + string(ttl) + " " + hash.String()
}

// UpTaskChange is [TaskChange] for a legacy task, whose outcome and questions are not
// in its document.
func UpTaskChange(in legacy2025.Task) string {
	message, _ := in.StatusMessage()
	ttl, _ := in.TTL()
	hash := newDigest()
	hash.add(message)
	return string(in.Status()) + " " + string(ttl) + " " + hash.String()
}

// digest is FNV-1a over a list of strings: it tells documents of one and the same
// task apart, and guards nothing.
type digest uint64

func newDigest() digest { return 14695981039346656037 }

func (d *digest) add(s string) {
	for i := range len(s) {
		*d = (*d ^ digest(s[i])) * 1099511628211
	}
	// The length keeps "ab","c" and "a","bc" apart.
	for n := len(s) + 1; n > 0; n >>= 8 {
		*d = (*d ^ digest(n&0xff)) * 1099511628211
	}
}

func (d digest) String() string { return strconv.FormatUint(uint64(d), 16) }
