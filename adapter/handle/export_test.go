package handle

import "github.com/taskbridge/taskbridge/adapter/port"

// Key names the record in which it is written down that a task is the caller's.
func Key(b *Book, backend string, caller port.Caller, taskID string) string {
	return b.keys(backend, caller, taskID)[0]
}
