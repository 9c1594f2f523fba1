package ask

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Table holds the questions of one task, in the order in which they came up. The
// zero Table is empty. It is stored as JSON.
type Table []*Entry

// Entry is one question.
type Entry struct {
	// Key is the question's key behind its namespace; see [Table.List].
	Key string `json:"key"`
	// Digest is of the question as it was listed first.
	Digest string `json:"digest"`
	State  State  `json:"state"`
	// Requests are those that put it to a client, the newest last.
	Requests []Request `json:"requests,omitempty"`
	// Answer is kept until the backend has stopped listing the question: a
	// backend may take a part of an update only (A-I5). It is a string so that
	// encoding it changes no byte.
	Answer string `json:"answer,omitempty"`
	// Sent is true once the backend has acknowledged the answer, Listed counts
	// how often it has listed the question since.
	Sent   bool `json:"sent,omitempty"`
	Listed int  `json:"listed,omitempty"`
	// Repeat is set where the answer may be given again.
	Repeat *Repeat `json:"repeat,omitempty"`
}

// State is how far a question has got.
type State string

// The states of a question. They change in this order only; any may be left out.
const (
	// New questions have been put to nobody.
	New State = "new"
	// Asked questions wait for an answer.
	Asked State = "asked"
	// Answered questions have one.
	Answered State = "answered"
	// Done questions were answered and are not listed any more. One that has not
	// been answered then is forgotten.
	Done State = "done"
)

// Request is a request that put a question to a client.
type Request struct {
	// ID is the JSON-RPC id, Session the keyed hash of the session's id.
	ID      string `json:"id"`
	Session string `json:"session"`
	// Stream names the stream that it went to, in the process that has it.
	Stream string `json:"stream"`
}

const (
	// maxOpen is how many questions of a task are open at a time; the others wait.
	maxOpen = 64
	// maxDone is how many are remembered that are over.
	maxDone = 1024
	// patience is how many times a backend may list an answered question before
	// it gets the answer again (A-I6).
	patience = 3
)

// name puts a key into its namespace. Keys are unique within a task or a round of
// a call; what comes after begins a namespace of its own (A-M10).
func name(space, key string) string { return space + ":" + key }

// List takes note of what the backend lists. It reports whether anything changed,
// and returns the requests that have lost their question: it was answered
// elsewhere, given up, or the task has ended (A-I8).
func (t *Table) List(space string, questions []port.Question) (changed bool, withdrawn []Request) {
	listed := make(map[string]bool, len(questions))
	for _, q := range questions {
		listed[name(space, q.Key)] = true
	}
	*t = slices.DeleteFunc(*t, func(e *Entry) bool {
		if e.State == Done || listed[e.Key] {
			return false
		}
		changed = true
		if e.State == Answered {
			e.State, e.Answer, e.Requests = Done, "", nil
			return false
		}
		withdrawn = append(withdrawn, e.Requests...)
		return true
	})
	known, open := t.index(), t.open()
	for _, q := range questions {
		key := name(space, q.Key)
		if !listed[key] {
			continue // once more in the same list
		}
		listed[key] = false
		if e := known[key]; e != nil {
			changed = e.again() || changed
		} else if open < maxOpen {
			*t = append(*t, &Entry{Key: key, Digest: digest(q), State: New})
			open++
			changed = true
		}
	}
	t.trim()
	return changed, withdrawn
}

// again notes that a question is listed once more.
func (e *Entry) again() (changed bool) {
	if e.State != Answered || !e.Sent {
		return false
	}
	if e.Listed++; e.Listed >= patience {
		e.Sent, e.Listed = false, 0
	}
	return true
}

// Differs reports whether a question is not what it was when its key came up
// first. The first one stands (A-I4).
func (e *Entry) Differs(q port.Question) bool { return e.Digest != digest(q) }

func digest(q port.Question) string {
	sum := sha256.Sum256([]byte(q.Request))
	return hex.EncodeToString(sum[:8])
}

// index returns the entries by key: a backend may list very many questions.
func (t *Table) index() map[string]*Entry {
	known := make(map[string]*Entry, len(*t))
	for _, e := range *t {
		known[e.Key] = e
	}
	return known
}

func (t *Table) find(key string) *Entry {
	for _, e := range *t {
		if e.Key == key {
			return e
		}
	}
	return nil
}

// Entry returns the entry of a listed question, or nil.
func (t *Table) Entry(space, key string) *Entry { return t.find(name(space, key)) }

// Asked returns the entry that a request of a session belongs to, or nil. Older
// requests of the same question count as well: the first answer wins (A-I9).
func (t *Table) Asked(session, id string) *Entry {
	for _, e := range *t {
		for _, r := range e.Requests {
			if r.Session == session && r.ID == id {
				return e
			}
		}
	}
	return nil
}

// open counts the questions without an answer.
func (t *Table) open() int {
	n := 0
	for _, e := range *t {
		if e.State == New || e.State == Asked {
			n++
		}
	}
	return n
}

// Unanswered returns those of these questions that have an entry and no answer, in
// their order.
func (t *Table) Unanswered(space string, questions []port.Question) []port.Question {
	var out []port.Question
	known := t.index()
	for _, q := range questions {
		if e := known[name(space, q.Key)]; e != nil && (e.State == New || e.State == Asked) {
			out = append(out, q)
		}
	}
	return out
}

// Answered reports whether every one of these questions has been answered, and
// there is one.
func (t *Table) Answered(space string, questions []port.Question) bool {
	for _, q := range questions {
		if e := t.Entry(space, q.Key); e == nil || e.State == New || e.State == Asked {
			return false
		}
	}
	return len(questions) > 0
}

// Reply records an answer to the entry's question.
func (e *Entry) Reply(answer wire.Value) { e.State, e.Answer = Answered, string(answer) }

// Others returns the requests for the question besides this one.
func (e *Entry) Others(session, id string) []Request {
	var out []Request
	for _, r := range e.Requests {
		if r.Session != session || r.ID != id {
			out = append(out, r)
		}
	}
	return out
}

// Unsent returns the answers that an update has to carry, by the keys of the
// space: those the backend has not acknowledged and, with them, those it has gone
// on listing. There is no update without the former.
func (t *Table) Unsent(space string) []port.Answer {
	var out []port.Answer
	fresh := false
	for _, e := range *t {
		key, ours := cut(e.Key, space)
		if !ours || e.State != Answered || e.Answer == "" || e.Sent && e.Listed == 0 {
			continue
		}
		fresh = fresh || !e.Sent
		out = append(out, port.Answer{Key: key, Value: wire.Value(e.Answer)})
	}
	if !fresh {
		return nil
	}
	return out
}

// Acknowledge notes that the backend has taken these answers.
func (t *Table) Acknowledge(space string, answers []port.Answer) {
	for _, a := range answers {
		if e := t.Entry(space, a.Key); e != nil && e.State == Answered && e.Answer == string(a.Value) {
			e.Sent, e.Listed = true, 0
		}
	}
}

// Answers returns all answers of a space.
func (t *Table) Answers(space string) []port.Answer {
	var out []port.Answer
	for _, e := range *t {
		if key, ours := cut(e.Key, space); ours && e.State == Answered {
			out = append(out, port.Answer{Key: key, Value: wire.Value(e.Answer)})
		}
	}
	return out
}

func cut(key, space string) (string, bool) {
	if len(key) <= len(space) || key[:len(space)] != space || key[len(space)] != ':' {
		return "", false
	}
	return key[len(space)+1:], true
}

// Clone returns a copy that shares nothing with t.
func (t *Table) Clone() Table {
	out := make(Table, len(*t))
	for i, e := range *t {
		c := *e
		c.Requests = slices.Clone(e.Requests)
		out[i] = &c
	}
	return out
}

// trim forgets the oldest questions that are over, if there are very many.
func (t *Table) trim() {
	done := 0
	for _, e := range *t {
		if e.State == Done {
			done++
		}
	}
	*t = slices.DeleteFunc(*t, func(e *Entry) bool {
		if e.State != Done || done <= maxDone {
			return false
		}
		done--
		return true
	})
}
