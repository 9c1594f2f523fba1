package pool

import (
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// Key is what a session may be shared by: everything else is equal for all
// sessions of a pool (B-U1).
type Key struct {
	// Principal is who the session acts for.
	Principal string
	// Capabilities is the fingerprint of the capabilities it was opened with.
	Capabilities string
}

// Mode says what a session is lent for.
type Mode uint8

const (
	// Shared is for calls that are never asked anything.
	Shared Mode = iota
	// Exclusive is for a call that may be asked something. A session is lent to
	// one of them at a time, beside any number of shared ones, and to none of them
	// while something lives in it that may ask, too, if that can be helped (B-U6).
	Exclusive
	// Single is Exclusive on a session for this lease alone. It ends soon after the
	// lease, unless something lives in it.
	Single
)

// Options configure a [Pool].
type Options struct {
	// Back opens the sessions. It is required.
	Back port.SessionBack
	// Env is the clock. It is required.
	Env env.Env
	// OnMessage gets what the server says outside of requests, with the session
	// that it was said on; nil drops it. One session's messages come one at a
	// time. It must not block for long.
	OnMessage func(m *Member, msg jsonrpc.Message)
	// Idle is how long a session that nobody uses is kept; 0 stands for five
	// minutes.
	Idle time.Duration
	// Wait is how long a call waits for a session when there may be no more of
	// them; 0 stands for 30 seconds.
	Wait time.Duration
	// Total is how many sessions there may be; 0 stands for 1000. A quarter of them may
	// be [Single].
	Total int
	// Openings is how many may be being opened at a time; 0 stands for 64.
	Openings int
	// PerKey is how many there may be with one key, and how many resumed ones beside
	// them; 0 stands for 16.
	PerKey int
}

// The defaults for what [Options] leaves open.
const (
	defaultIdle   = 5 * time.Minute
	defaultWait   = 30 * time.Second
	defaultTotal  = 1000
	defaultPerKey = 16
	// defaultOpenings is enough for a handshake of 50 ms a thousand times a second.
	defaultOpenings = 64
)

func (o Options) orDefault() Options {
	o.Idle = orDefault(o.Idle, defaultIdle)
	o.Wait = orDefault(o.Wait, defaultWait)
	o.Total = orDefault(o.Total, defaultTotal)
	o.Openings = orDefault(o.Openings, defaultOpenings)
	o.PerKey = orDefault(o.PerKey, defaultPerKey)
	return o
}

func orDefault[T int | time.Duration](value, standard T) T {
	if value > 0 {
		return value
	}
	return standard
}

var (
	// ErrBusy: no session was to be had within Options.Wait.
	ErrBusy error = &port.CauseError{Text: "no session of the backend is free", Public: "too many calls at the backend"}
	// ErrClosed: the pool has been closed.
	ErrClosed error = &port.CauseError{Text: "the pool of sessions is closed", Public: "the bridge is shutting down"}
)
