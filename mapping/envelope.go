package mapping

import "github.com/taskbridge/taskbridge/internal/wire"

// AppendEnvelope appends the _meta object of a request that the bridge makes on
// a legacy client's behalf: the envelope of a modern request and nothing else
// (A-U1).
func AppendEnvelope(dst []byte, env Envelope) []byte {
	w := wire.Begin(dst)
	plan := metaPlan{envelope: true, env: env}
	plan.writeHead(&w)
	w.Value(wire.MetaProgressToken, env.ProgressToken)
	return w.End()
}
