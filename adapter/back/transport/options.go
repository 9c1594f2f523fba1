package transport

import (
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// Limits bound what a server may send.
type Limits struct {
	// Result is the largest message accepted, in bytes; 0 stands for 32 MiB.
	Result int64
	// Memory bounds what all messages being handled hold together; nil does not.
	Memory port.Memory
}

// The defaults that the clients of both eras share.
const (
	// DefaultResult is that of [Limits], in bytes.
	DefaultResult = 32 << 20
	// DefaultIdle is how long a server may be silent.
	DefaultIdle = 5 * time.Minute
	// DefaultTotal is how long a request may take, everything sent again included.
	DefaultTotal = time.Hour
)

// OrDefault is value if that is positive, and standard otherwise.
func OrDefault[T int | int64 | time.Duration](value, standard T) T {
	if value > 0 {
		return value
	}
	return standard
}
