package transport

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// maxRetries is how often a repeatable request is sent again.
	maxRetries = 3
	// firstDelay is the longest wait before the first retry; it doubles.
	firstDelay = 100 * time.Millisecond
)

// Again decides whether a request is sent again after failing the given number
// of times, and how long to wait before: up to three times if it is repeatable,
// and otherwise once if nothing of it has reached the server (G-6).
func (s *Server) Again(repeatable bool, tries int, failed *Failure) (time.Duration, bool) {
	switch {
	case failed.Kind == Final:
		return 0, false
	case repeatable:
		return max(failed.After, s.Delay(tries)), tries <= maxRetries
	default:
		return s.Delay(tries), failed.Kind == Broken && !failed.Sent && tries == 1
	}
}

// Delay is the wait before a retry: doubling, with the upper half random so
// that many clients of a server that restarts do not come back at once.
func (s *Server) Delay(tries int) time.Duration {
	const most = 20 // doublings, beyond every deadline
	longest := firstDelay << min(tries-1, most)
	return env.Jitter(s.Env, longest, 0.5, 1)
}

// maxRetryAfter keeps a silly Retry-After from overflowing; no deadline is near it.
const maxRetryAfter = 365 * 24 * time.Hour

// retryAfter reads a Retry-After header: seconds or a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter), true
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter), true
	}
	return 0, false
}
