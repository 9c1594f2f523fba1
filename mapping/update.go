package mapping

import "github.com/taskbridge/taskbridge/internal/wire"

// InputAnswer is one answer on its way to a modern backend.
type InputAnswer struct {
	// Key is the question's key in inputRequests.
	Key string
	// Answer is the InputResponse, as [AppendUpInputResponse] wrote it.
	Answer wire.Value
}

// AppendUpUpdateParams appends the params of a tasks/update to a modern backend:
// its task id, the answers by key, and the envelope.
//
// Spec: ext-tasks "Task Update". Rule A-I5.
func AppendUpUpdateParams(dst []byte, taskID string, answers []InputAnswer, env Envelope) []byte {
	w := wire.Begin(dst)
	w.Text("taskId", taskID)
	w.Name("inputResponses")
	w.SetBuf(AppendInputResponses(w.Buf(), answers))
	writeEnvelope(&w, &wire.Object{}, env)
	return w.End()
}

// AppendInputResponses appends an inputResponses object, as tasks/update and the
// repetition of a call carry it (A-M2, A-M9).
func AppendInputResponses(dst []byte, answers []InputAnswer) []byte {
	w := wire.Begin(dst)
	for _, answer := range answers {
		w.Value(answer.Key, answer.Answer)
	}
	return w.End()
}
