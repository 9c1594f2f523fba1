package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/wire"
)

const (
	// poseAttempts bounds how often putting questions starts over because the
	// record changed under it.
	poseAttempts = 8
	// maxRequests is how many requests of a question can still be answered.
	maxRequests = 8
)

// space is the namespace of the questions that the record's document lists: a
// hosted call has one for each round, and the task that it may become another
// (A-M10).
func (rec *record) space() string {
	if rec.TaskID != "" {
		return "task"
	}
	return strconv.Itoa(rec.Rounds)
}

// list takes note of the questions that the document lists.
func (rec *record) list(questions []port.Question) (changed bool) {
	asks := rec.Asks.Clone() // other copies of the record have the old one
	changed, withdrawn := asks.List(rec.space(), questions)
	rec.Asks, rec.withdrawn = asks, append(rec.withdrawn, withdrawn...)
	return changed
}

// answered reports whether all questions that the document lists are answered.
func (m *Manager) answered(r ref, rec *record) bool {
	return len(rec.Asks) > 0 && rec.Asks.Answered(rec.space(), m.Dialect(r.backend).Questions(rec.doc))
}

// written does what was waiting for the record to be durable.
func (m *Manager) written(ctx context.Context, r ref, rec *record) {
	m.Desk.Withdraw(ctx, m.Dialect(r.backend), rec.withdrawn)
	for _, request := range rec.withdrawn {
		if rec.Asks.Asked(request.Session, request.ID) == nil { // another one may have taken its place, and it still be answered
			m.unpoint(ctx, request)
		}
	}
	if rec.unsaved != "" {
		if err := m.Store.Delete(ctx, rec.unsaved, state.Always); err != nil {
			m.Logger.WarnContext(ctx, "saved call not removed", "error", err) // it expires
		}
	}
	rec.withdrawn, rec.unsaved = nil, ""
}

// pose puts the questions of a task to those who can be asked now, and sees to it
// that the answers reach the backend. It returns the record as it is then. A
// failure is logged: the next look at the task tries again.
func (m *Manager) pose(ctx context.Context, r ref, caller port.Caller, rec record, own func() port.Stream) record {
	if len(rec.Asks) == 0 || !m.enter() {
		return rec
	}
	defer m.work.Done()
	for range poseAttempts {
		if rec.Final || len(rec.Asks) == 0 || m.cancelling(ctx, r, &rec) {
			return rec
		}
		t := m.newTurn(r, caller, rec, own)
		next, err := t.take(ctx)
		if err == nil {
			if !next.Final && m.owes(r, &next) {
				m.deliver(r, caller)
			}
			return next
		}
		m.Desk.Forget(t.placed)
		m.unpoint(ctx, t.placed...)
		if errors.Is(err, state.ErrConflict) {
			var latest record
			if latest, err = m.load(ctx, r); err == nil && latest.rev != 0 {
				rec = latest
				continue
			}
		}
		if err != nil {
			m.Logger.WarnContext(ctx, "questions of a task not put", "backend", r.backend, "error", port.Reason(err))
		}
		return rec
	}
	return rec
}

// turn is one look at the open questions of a task.
type turn struct {
	m         *Manager
	r         ref
	dialect   port.TaskDialect
	caller    port.Caller // who looks
	own       func() port.Stream
	seats     []*ask.Seat
	rec       record
	changed   bool
	requests  []posed
	withdrawn []posed
	placed    []ask.Request // those of requests
	moved     []ask.Request // in whose place they are
}

// posed is a message to a client that waits for the record to be durable.
type posed struct {
	stream  port.Stream
	message []byte
	request ask.Request
}

func (m *Manager) newTurn(r ref, caller port.Caller, rec record, own func() port.Stream) *turn {
	rec.Asks = rec.Asks.Clone()
	t := &turn{
		m: m, r: r, dialect: m.Dialect(r.backend), caller: caller, own: own, seats: m.Desk.Seats(r.serial), rec: rec,
	}
	if rec.TaskID == "" {
		// A backend is asked for its questions again and again, a hosted call is
		// not: those that had to wait for others come up here.
		t.changed = t.rec.list(t.dialect.Questions(rec.doc))
	}
	return t
}

// take goes through the questions, makes what comes of it durable and only then
// tells the clients.
func (t *turn) take(ctx context.Context) (record, error) {
	t.repeat()
	for _, q := range t.open(ctx) {
		refusal, err := t.question(ctx, q)
		if err != nil {
			return record{}, err
		}
		if refusal != nil {
			return t.m.giveUp(ctx, t.r, t.caller, t.rec, refusal.Message)
		}
	}
	if !t.changed {
		return t.rec, nil
	}
	until := t.m.recordExpiry(&t.rec)
	for _, p := range t.requests {
		if err := t.m.point(ctx, t.r, p.request, until); err != nil {
			return record{}, err
		}
	}
	if t.rec.Pointed == 0 {
		t.rec.Pointed = until.UnixMilli()
	}
	if err := t.m.save(ctx, t.r, &t.rec); err != nil {
		return record{}, err
	}
	t.m.refresh(t.r, &t.rec)
	t.m.Desk.Forget(t.moved)
	for _, p := range t.withdrawn {
		_ = p.stream.Send(p.message) // for a client that is gone it is as good as withdrawn
	}
	for _, p := range t.requests {
		_ = t.m.Desk.Send(p.request, p.message) // one that is lost is put again
	}
	if t.m.answered(t.r, &t.rec) {
		t.m.announce(ctx, t.r, &t.rec)
	}
	return t.rec, nil
}

// repeat answers what has been answered before under another key, once it is time
// to (A-I11).
func (t *turn) repeat() {
	now := t.m.Env.Now()
	for _, q := range t.unanswered() {
		e := t.rec.Asks.Entry(t.rec.space(), q.Key)
		if e.State != ask.New {
			continue
		}
		if repeat, due, ok := t.rec.Asks.Repeated(e.Digest, now); ok && !now.Before(due) {
			e.Again(repeat, now)
			t.changed = true
		}
	}
}

// unanswered lists the questions that wait for an answer.
func (t *turn) unanswered() []port.Question {
	return t.rec.Asks.Unanswered(t.rec.space(), t.dialect.Questions(t.rec.doc))
}

// refresh keeps what the backend has said last: that its questions were put is
// nothing new to it (A-T21).
func (m *Manager) refresh(r ref, rec *record) {
	if snap, ok := m.recent.Get(r.serial); ok {
		snap.rec = *rec
		m.recent.Add(r.serial, snap)
	}
}

// open lists the questions that are to be put: those that never were, and those
// whose request nobody reads any more (A-I9).
func (t *turn) open(ctx context.Context) []port.Question {
	var out []port.Question
	for _, q := range t.unanswered() {
		e := t.rec.Asks.Entry(t.rec.space(), q.Key)
		if _, _, ok := t.rec.Asks.Repeated(e.Digest, t.m.Env.Now()); ok && e.State == ask.New {
			continue // its time comes
		}
		if e.State == ask.Asked && !t.m.Desk.Lost(ctx, e.Requests[len(e.Requests)-1], len(t.seats) > 0) {
			continue
		}
		out = append(out, q)
	}
	if len(out) > 0 && len(t.seats) == 0 && !t.due() {
		return nil
	}
	return out
}

// due reports whether the session that polls has to be asked on its own stream.
func (t *turn) due() bool {
	if t.own == nil {
		return false
	}
	st, err := t.dialect.Read(t.rec.doc)
	if err != nil {
		return false
	}
	return t.m.Desk.Polled(t.r.serial, t.caller, t.m.interval(st))
}

// question puts one question to the first who can be asked. Where nobody can, it
// is dismissed, or refused if it cannot be dismissed (§4.11).
func (t *turn) question(ctx context.Context, q port.Question) (*ask.RefusalError, error) {
	e := t.rec.Asks.Entry(t.rec.space(), q.Key)
	if e.Differs(q) {
		t.m.Logger.WarnContext(ctx, "a backend has changed a question under its key", "backend", t.r.backend)
	}
	for _, seat := range t.seats {
		if t.dialect.Check(q, seat.Caller) == nil {
			return nil, t.put(ctx, e, q, seat.Caller, seat.Stream, false)
		}
	}
	if len(t.seats) == 0 {
		if t.dialect.Check(q, t.caller) == nil {
			if stream := t.own(); stream != nil {
				return nil, t.put(ctx, e, q, t.caller, stream, true)
			}
			return nil, nil // there is nowhere to ask yet
		}
		if t.rec.Session != t.m.Desk.Session(t.caller) {
			return nil, nil // another session of the owner may be able to answer
		}
	}
	if e.State == ask.Asked {
		return nil, nil // it could be asked once, and may be again
	}
	answer, ok := t.dialect.Dismissal(q)
	if !ok {
		return ask.ErrNobody, nil
	}
	e.Reply(answer)
	t.changed = true
	return nil, nil
}

// put prepares the request for one question, and takes an older one back.
func (t *turn) put(ctx context.Context, e *ask.Entry, q port.Question, caller port.Caller, stream port.Stream, own bool) error {
	id, err := stream.NewID(ctx)
	if err != nil {
		return err
	}
	request, err := t.dialect.AppendQuestion(nil, q, caller, port.Ask{
		ID: id, Handle: t.r.handle, ElicitationID: t.m.Desk.ElicitationID(t.r.serial, e.Key),
	})
	if err != nil {
		return err
	}
	session := t.m.Desk.Session(caller)
	if n := len(e.Requests); n > 0 {
		if last := e.Requests[n-1]; last.Session == session {
			t.moved = append(t.moved, last)
			t.withdrawn = append(t.withdrawn, posed{stream: stream, message: t.dialect.AppendWithdrawal(nil, wire.Value(last.ID))})
		} else {
			t.rec.withdrawn = append(t.rec.withdrawn, last)
		}
	}
	placed := ask.Request{ID: string(id), Session: session, Stream: t.m.Desk.Place(stream, own)}
	e.State = ask.Asked
	old := max(0, len(e.Requests)-maxRequests+1)
	t.rec.withdrawn = append(t.rec.withdrawn, e.Requests[:old]...)
	e.Requests = append(e.Requests[old:], placed)
	t.requests = append(t.requests, posed{stream, request, placed})
	t.placed = append(t.placed, placed)
	t.changed = true
	return nil
}

func pointerKey(session, id string) string { return "question/" + session + "/" + id }

// pointer leads from a request to its task.
type pointer struct {
	Handle string `json:"handle"`
}

// point makes it possible to find the task of a request by its answer.
func (m *Manager) point(ctx context.Context, r ref, request ask.Request, until time.Time) error {
	value, err := json.Marshal(pointer{r.handle})
	if err != nil {
		return fmt.Errorf("write a question: %w", err)
	}
	_, err = m.Store.Put(ctx, state.Record{
		Key: pointerKey(request.Session, request.ID), Value: value, Expires: until,
	}, state.Always)
	if err != nil {
		return fmt.Errorf("write a question: %w", err)
	}
	return nil
}

// follow keeps the ways from the answers to the task as long as its record, which
// is going to be kept until then. A write per question and change would be too much.
func (m *Manager) follow(ctx context.Context, r ref, rec *record, until time.Time) error {
	if rec.Pointed == 0 || until.Sub(time.UnixMilli(rec.Pointed)) <= until.Sub(m.Env.Now())/8 {
		return nil
	}
	for _, e := range rec.Asks {
		if e.State != ask.Asked {
			continue
		}
		for _, request := range e.Requests {
			if err := m.point(ctx, r, request, until); err != nil {
				return err
			}
		}
	}
	rec.Pointed = until.UnixMilli()
	return nil
}

// unpoint undoes point for requests that nobody can answer any more: a backend may
// ask without end. What a failing store keeps expires with the task.
func (m *Manager) unpoint(ctx context.Context, requests ...ask.Request) {
	ctx = context.WithoutCancel(ctx)
	for _, request := range requests {
		if err := m.Store.Delete(ctx, pointerKey(request.Session, request.ID), state.Always); err != nil {
			m.Logger.WarnContext(ctx, "way from an answer to its task not removed", "error", err)
		}
	}
}

// hostRound puts the questions of a hosted call into its record, and saves the call
// until they are answered (A-M8). The call is durable before the record that names
// it.
func (m *Manager) hostRound(ctx context.Context, r ref, rec *record, round *Round) error {
	key := recordKey(r) + "/" + "call" + strconv.Itoa(rec.Rounds+1)
	if err := m.putBody(ctx, key, wire.Value(round.Saved), time.UnixMilli(rec.Expires)); err != nil {
		return err
	}
	rec.Rounds++
	rec.Call, rec.Runner = key, ""
	return m.host(r, rec, port.HostedTask{Status: port.TaskInputRequired, TTL: lifetime(rec), Questions: round.Questions})
}
