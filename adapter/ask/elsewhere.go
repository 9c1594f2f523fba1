package ask

import (
	"context"
	"strings"

	"github.com/taskbridge/taskbridge/adapter/seal"
)

// The kinds of questions between the desks of processes: whether the request that is
// named is lost, and that one is to be withdrawn.
const (
	kindLost     = "request-lost"
	kindWithdraw = "request-withdraw"
)

// process is the one that has the stream of the request.
func (r Request) process() string {
	process, _, _ := strings.Cut(r.Stream, "/")
	return process
}

// lostElsewhere asks the process that has the stream. It can only be told apart from
// a dead one by asking, so nothing counts as lost that cannot be known.
func (d *Desk) lostElsewhere(ctx context.Context, process string, r Request, waits bool) bool {
	lives, err := d.process.Lives(ctx, process)
	switch {
	case err != nil:
		return false
	case !lives:
		return true
	}
	var question seal.Fields
	question.String(r.Stream)
	question.Int(number(waits))
	answer, err := d.process.Ask(ctx, process, kindLost, question.Bytes())
	return err == nil && string(answer) == lostAnswer
}

const lostAnswer = "lost"

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// answerLost answers for a stream of this process.
func (d *Desk) answerLost(_ context.Context, question []byte) []byte {
	f := seal.ReadFields(question)
	r := Request{Stream: f.String()}
	waits := f.Int() == 1
	if f.Done() == nil && r.process() == d.process.ID() && d.lost(r, waits) {
		return []byte(lostAnswer)
	}
	return nil
}

// withdrawElsewhere has the process that has the stream withdraw a request. It waits
// for nobody: a withdrawal is a courtesy.
func (d *Desk) withdrawElsewhere(ctx context.Context, process string, r Request, message []byte) {
	if !d.process.Shared() {
		return // it is one that has ended
	}
	var question seal.Fields
	question.String(r.Stream)
	question.String(string(message))
	ctx = context.WithoutCancel(ctx)
	go func() { // ends within the time that a question may take
		_, _ = d.process.Ask(ctx, process, kindWithdraw, question.Bytes())
	}()
}

// answerWithdraw withdraws a request on a stream of this process.
func (d *Desk) answerWithdraw(_ context.Context, question []byte) []byte {
	f := seal.ReadFields(question)
	r, message := Request{Stream: f.String()}, f.String()
	if f.Done() == nil && r.process() == d.process.ID() {
		d.withdraw(r, []byte(message))
	}
	return nil
}
