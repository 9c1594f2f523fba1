package soak

import (
	"io"
	"time"
)

// Options say what is put under load, and how hard. All members are required.
type Options struct {
	// Binary is the taskbridge command.
	Binary string
	// Dir is an empty directory for the store and the logs.
	Dir string
	// For is how long the load goes on.
	For time.Duration
	// Streams is how many idle event streams are held open.
	Streams int
	// Ceiling is what the bridge may keep resident, in bytes.
	Ceiling int64
	// Log gets a line now and then, and the figures at the end.
	Log io.Writer
}

// What the bridge is told. The ceiling of its memory follows from these.
const (
	headerTimeout = 5 * time.Second
	maxBody       = 1 << 20
	maxInflight   = 64 << 20
	sessionIdle   = time.Minute
)

// settings are the flags of the bridge.
func (o *Options) settings() []string {
	var flags []string
	for _, set := range []string{
		"limits.header_timeout=" + headerTimeout.String(), "limits.body=1MiB", "limits.result=8MiB", "limits.inflight_bytes=64MiB",
		"limits.sessions=6000", "times.session_idle=" + sessionIdle.String(), "times.park=30s", "times.replay_window=30s",
	} {
		flags = append(flags, "--set", set)
	}
	return flags
}

const (
	// patience is how long a good client waits for one answer, retries included.
	patience = 60 * time.Second
	// goodClients is how many of them there are at each route.
	goodClients = 6
	// streamsPerSession is how many event streams a legacy session may have open, and a
	// modern caller subscriptions.
	streamsPerSession = 8
)
