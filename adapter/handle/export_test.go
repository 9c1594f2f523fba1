package handle

import "github.com/taskbridge/taskbridge/adapter/port"

// Key names the record that says that a task is the caller's.
func Key(b *Book, backend string, caller port.Caller, taskID string) string {
	return b.key(backend, caller, taskID)
}
