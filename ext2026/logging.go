package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// LogLevel is the severity of a log message.
type LogLevel string

// The log levels, the most verbose first (§3.4).
const (
	LogDebug     LogLevel = "debug"
	LogInfo      LogLevel = "info"
	LogNotice    LogLevel = "notice"
	LogWarning   LogLevel = "warning"
	LogError     LogLevel = "error"
	LogCritical  LogLevel = "critical"
	LogAlert     LogLevel = "alert"
	LogEmergency LogLevel = "emergency"
)

// Rank returns the level's position, 1 for debug to 8 for emergency, or 0 when
// it is no level.
func (l LogLevel) Rank() int {
	for i, level := range [...]LogLevel{
		LogDebug, LogInfo, LogNotice, LogWarning, LogError, LogCritical, LogAlert, LogEmergency,
	} {
		if l == level {
			return i + 1
		}
	}
	return 0
}

// Known reports whether l is a level.
func (l LogLevel) Known() bool { return l.Rank() > 0 }

// LogParams is a view of the params of notifications/message.
type LogParams struct {
	wire.Object
	// Level is required.
	Level LogLevel
	// Data is the member as received, of any type; required.
	Data wire.Value
}

// ParseLogParams reads the params of notifications/message. The error is a
// *[wire.DecodeError].
func ParseLogParams(v wire.Value) (LogParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return LogParams{}, err
	}
	text, _ := obj.Get("level").Text()
	level := LogLevel(text)
	if !level.Known() {
		return LogParams{}, wire.Wrong("params.level", "a log level")
	}
	data := obj.Get("data")
	if !data.Present() {
		return LogParams{}, wire.Wrong("params.data", "any value")
	}
	return LogParams{Object: obj, Level: level, Data: data}, nil
}
