package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/taskbridge/taskbridge/adapter/ask"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Answer takes a client's response to a question of a task. It is durable when
// Answer returns; what nobody has asked this session, or was answered before, is
// dropped (A-I5, A-I8).
func (m *Manager) Answer(ctx context.Context, backend string, caller port.Caller, response jsonrpc.Message) error {
	if !m.enter() {
		return errStopped
	}
	defer m.work.Done()
	session, id := m.Desk.Session(caller), string(response.ID)
	stored, err := m.Store.Get(ctx, pointerKey(session, id))
	if errors.Is(err, state.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read a question: %w", err)
	}
	var p pointer
	if err := json.Unmarshal(stored.Value, &p); err != nil {
		return fmt.Errorf("read a question: %w", err)
	}
	r, err := m.open(backend, caller, p.Handle)
	if err != nil {
		return nil // another backend's route
	}
	for {
		rec, err := m.load(ctx, r)
		if errors.Is(err, ErrUnknown) || err == nil && m.over(&rec) {
			return nil
		}
		if err == nil {
			err = m.reply(ctx, r, caller, rec, session, response)
		}
		if !errors.Is(err, state.ErrConflict) {
			return err
		}
	}
}

// reply records a response. What is no answer counts as the client's error
// (§4.11). [state.ErrConflict] says that the task has changed meanwhile.
func (m *Manager) reply(ctx context.Context, r ref, caller port.Caller, rec record, session string, response jsonrpc.Message) error {
	rec.Asks = rec.Asks.Clone()
	e := rec.Asks.Asked(session, string(response.ID))
	if e == nil || e.State != ask.Asked {
		return nil
	}
	dialect := m.Dialect(r.backend)
	var q port.Question
	for _, listed := range rec.Asks.Unanswered(rec.space(), dialect.Questions(rec.doc)) {
		if rec.Asks.Entry(rec.space(), listed.Key) == e {
			q = listed
		}
	}
	answer, err := dialect.Answer(q, response)
	if err != nil {
		var ok bool
		if answer, ok = dialect.Dismissal(q); !ok {
			requests := e.Requests
			e.Requests = e.Others(session, string(response.ID)) // this one is answered, so it is not withdrawn
			_, gaveUp := m.giveUp(ctx, r, caller, rec, ask.Refused(err).Message)
			if gaveUp == nil {
				m.Desk.Forget(requests)
				m.unpoint(ctx, requests...)
			}
			return gaveUp
		}
	}
	e.Reply(answer)
	if dialect.Repeats(q, answer) {
		e.Keep(m.Env.Now())
	}
	if err := m.save(ctx, r, &rec); err != nil {
		return err
	}
	m.Desk.Withdraw(ctx, dialect, e.Others(session, string(response.ID)))
	m.Desk.Forget(e.Requests)
	m.unpoint(ctx, e.Requests...)
	if m.answered(r, &rec) {
		m.announce(ctx, r, &rec)
	}
	if m.owes(r, &rec) {
		m.deliver(r, caller)
	}
	return nil
}

// giveUp ends a task whose question cannot be answered: in the backend's words
// there is none for that (§4.11). To the client it has failed.
func (m *Manager) giveUp(ctx context.Context, r ref, caller port.Caller, rec record, message string) (record, error) {
	dialect := m.Dialect(r.backend)
	doc := wire.Value(dialect.AppendFailed(nil, rec.doc, message, m.Env.Now()))
	st, err := dialect.Read(doc)
	if err != nil {
		return record{}, err
	}
	next := rec
	next.take(dialect, doc, st)
	if err := m.save(ctx, r, &next); err != nil {
		return record{}, err
	}
	m.announce(ctx, r, &next)
	if rec.TaskID != "" {
		m.untrack(r, rec.TaskID)
		m.work.Go(func() { m.cancelGivenUp(ctx, r, caller, rec.TaskID) })
	}
	return next, nil
}

// cancelGivenUp ends a task at its backend that has ended here.
func (m *Manager) cancelGivenUp(ctx context.Context, r ref, caller port.Caller, taskID string) {
	ctx, cancel := m.parting(ctx)
	defer cancel()
	if err := m.Backend.CancelTask(ctx, r.backend, caller, taskID); err != nil {
		m.Logger.WarnContext(ctx, "task that was given up not cancelled", "backend", r.backend, "error", port.Reason(err))
	}
}

// owes reports whether answers wait to be told to the backend. A hosted call gets
// all of a round's at once, since it cannot take a part (A-M9).
func (m *Manager) owes(r ref, rec *record) bool {
	if rec.TaskID != "" {
		return len(rec.Asks.Unsent(rec.space())) > 0
	}
	return rec.Call != "" && m.answered(r, rec)
}

// delivery is the way of a task's answers to its backend. Its members are guarded
// by the manager's lock.
type delivery struct {
	caller port.Caller // who came last: the newest credential
	more   bool        // there may be another answer by now
}

// longestPause bounds the time between two attempts to tell an answer.
const longestPause = 30 * time.Second

// deliver tells the backend what it is owed, on a goroutine of its own, one at a
// time for each task.
func (m *Manager) deliver(r ref, caller port.Caller) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.answers[r.serial]; d != nil {
		d.caller, d.more = caller, true
		return
	}
	if m.closed {
		return // whoever looks at the task next delivers
	}
	d := &delivery{caller: caller}
	m.answers[r.serial] = d
	m.work.Go(func() { m.run(r, d) })
}

// run tries until nothing is owed or there is no hope for now; then whoever looks
// at the task next tries again.
func (m *Manager) run(r ref, d *delivery) {
	giveUp := m.Env.Now().Add(m.Times.CallTotal)
	for pause := time.Second; ; pause = min(2*pause, longestPause) {
		m.mu.Lock()
		caller := d.caller
		d.more = false
		m.mu.Unlock()
		err := m.tell(m.ctx, r, caller)
		stopping := errors.Is(err, errStopped)
		if err != nil && !stopping && !errors.Is(err, state.ErrHeld) && m.ctx.Err() == nil {
			m.Logger.WarnContext(m.ctx, "answer not told to the backend", "backend", r.backend, "error", port.Reason(err))
		}
		hopeless := err != nil && (stopping || !retriable(err) || !m.Env.Now().Before(giveUp))
		if m.delivered(r, d, err == nil, hopeless) {
			return
		}
		if err != nil {
			_ = env.Sleep(m.ctx, m.Env, pause) // what ends it early ends the loop, too
		}
	}
}

// delivered reports whether a delivery is over, and removes it then.
func (m *Manager) delivered(r ref, d *delivery, told, hopeless bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	over := (told || hopeless) && !d.more || m.ctx.Err() != nil
	if over {
		delete(m.answers, r.serial)
	}
	return over
}

// retriable reports whether it is worth telling an answer again: the backend was
// not reached, or was busy, or the store was.
func retriable(err error) bool {
	var rpc *jsonrpc.Error
	return waitable(err) || !transient(err) && (!errors.As(err, &rpc) || rpc.Code == jsonrpc.CodeInternal)
}

// tell tells the backend what it is owed now.
func (m *Manager) tell(ctx context.Context, r ref, caller port.Caller) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			port.LogFault(ctx, m.Logger, fault)
			err = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a fault of the bridge"} // not to be tried again by itself
		}
	}()
	if m.Process.Shared() { // one process at a time, too
		held, drop, err := m.lease(ctx, "answer/"+r.serial)
		if err != nil {
			return err
		}
		defer drop()
		ctx = held
	}
	for {
		if err := m.tellOnce(ctx, r, caller); !errors.Is(err, state.ErrConflict) {
			return err
		}
	}
}

func (m *Manager) tellOnce(ctx context.Context, r ref, caller port.Caller) error {
	rec, err := m.load(ctx, r)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil || m.over(&rec) || m.cancelling(ctx, r, &rec) || !m.owes(r, &rec) {
		return err
	}
	if rec.TaskID == "" {
		return m.resume(ctx, r, caller, rec)
	}
	answers := rec.Asks.Unsent(rec.space())
	callCtx, cancel := m.bind(ctx, m.Times.CallTotal, errCallTotal)
	err = m.Backend.UpdateTask(callCtx, r.backend, caller, rec.TaskID, answers)
	cancel()
	if err != nil && (transient(err) || port.IsCode(err, jsonrpc.CodeInternal)) {
		return err
	}
	if err != nil {
		// The backend does not want it, or the task is over: its next document
		// tells (A-I7). What it goes on listing is told again.
		m.Logger.WarnContext(ctx, "answer refused by the backend", "backend", r.backend, "error", port.Reason(err))
		m.wake(r.serial)
	}
	return m.acknowledged(ctx, r, answers)
}

// acknowledged records that the backend has these answers.
func (m *Manager) acknowledged(ctx context.Context, r ref, answers []port.Answer) error {
	ctx = context.WithoutCancel(ctx)
	for {
		rec, err := m.load(ctx, r)
		if errors.Is(err, ErrUnknown) || err == nil && rec.Final {
			return nil
		}
		if err != nil {
			return err
		}
		rec.Asks = rec.Asks.Clone()
		rec.Asks.Acknowledge(rec.space(), answers)
		if err := m.save(ctx, r, &rec); !errors.Is(err, state.ErrConflict) {
			return err
		}
	}
}

// resume goes on with a hosted call that has all its answers. What was saved of it
// is spent before it acts: if this process dies now, the call counts as cut, and is
// not made again (G-6).
func (m *Manager) resume(ctx context.Context, r ref, caller port.Caller, rec record) error {
	saved, err := m.Store.Get(ctx, rec.Call)
	if err != nil {
		return fmt.Errorf("read a saved call: %w", err)
	}
	call := Resumption{Saved: saved.Value, Answers: rec.Asks.Answers(rec.space()), Fresh: rec.Asks.Fresh(rec.space())}
	rec.Runner, rec.unsaved, rec.Call = m.Process.ID(), rec.Call, ""
	if err := m.host(r, &rec, port.HostedTask{Status: port.TaskWorking, TTL: lifetime(&rec)}); err != nil {
		return err
	}
	callCtx, stop := m.detach(ctx, m.Times.CallTotal, errCallTotal)
	ended := m.proceed(r.serial, stop)
	if ended == nil {
		stop()
		return errStopped
	}
	if err := m.save(ctx, r, &rec); err != nil {
		stop()
		ended()
		return err
	}
	m.announce(ctx, r, &rec)
	m.work.Go(func() {
		end := m.perform(callCtx, func(ctx context.Context) Ending {
			return m.Resume(ctx, r.backend, caller, call)
		})
		stop()
		m.finish(callCtx, r, Request{Backend: r.backend, Caller: caller}, end)
		ended()
	})
	return nil
}
