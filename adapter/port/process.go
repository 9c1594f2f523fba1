package port

import "context"

// Process is this run of the process, among those that share its store.
type Process interface {
	// ID names the run. No other ever has the same id.
	ID() string
	// Shared reports whether there may be other processes at the same time.
	Shared() bool
	// Lives reports whether the process with an id runs. The error says that this
	// cannot be known now. The answer may be a second old.
	Lives(ctx context.Context, id string) (bool, error)
	// Ask has another process answer a question of the bridge's own, of a kind that
	// it was told to answer with [Process.Answer]. It fails if the process is gone.
	Ask(ctx context.Context, process, kind string, question []byte) (answer []byte, err error)
	// Answer sets what answers the questions of a kind. It must be called before
	// others can know of anything to ask about.
	Answer(kind string, answer func(ctx context.Context, question []byte) []byte)
}
