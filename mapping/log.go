package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendDownLog appends the params of notifications/message for a legacy client
// whose level is minimum, or nothing when the message is below it. An empty
// minimum passes nothing: a client that never set a level gets no messages from
// a modern server (§3.4, Q25).
//
// Rules §3.3, §3.4, §3.6. Loss: none but the filter's.
func AppendDownLog(dst []byte, params wire.Value, minimum string) ([]byte, Notes, error) {
	in, err := ext2026.ParseLogParams(params)
	if err != nil {
		return dst, 0, malformed(Down, ext2026.NotificationMessage, err)
	}
	if !passes(in.Level.Rank(), ext2026.LogLevel(minimum).Rank()) {
		return dst, 0, nil
	}
	return AppendDownNotification(dst, ext2026.NotificationMessage, params)
}

// AppendUpLog appends the params of notifications/message for a modern request
// whose logLevel is minimum, or nothing when the message is below it or the
// request asked for none (§3.4).
//
// Rules §3.3, §3.4, §3.6. Loss: none but the filter's.
func AppendUpLog(dst []byte, params wire.Value, minimum string) ([]byte, Notes, error) {
	in, err := legacy2025.ParseLogParams(params)
	if err != nil {
		return dst, 0, malformed(Up, legacy2025.NotificationMessage, err)
	}
	if !passes(in.Level.Rank(), legacy2025.LogLevel(minimum).Rank()) {
		return dst, 0, nil
	}
	return AppendUpNotification(dst, legacy2025.NotificationMessage, params, "")
}

func passes(level, minimum int) bool { return minimum > 0 && level >= minimum }
