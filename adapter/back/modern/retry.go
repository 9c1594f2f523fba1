package modern

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	// maxRetries is how often a repeatable request is sent again.
	maxRetries = 3
	// firstDelay is the longest wait before the first retry; it doubles.
	firstDelay = 100 * time.Millisecond
)

// Repeatable reports whether a request of this method may be sent again after
// the server may have seen it (A-U6). Unknown methods may not.
func Repeatable(method string) bool {
	switch method {
	case ext2026.MethodServerDiscover,
		ext2026.MethodToolsList, ext2026.MethodPromptsList,
		ext2026.MethodResourcesList, ext2026.MethodResourceTemplatesList,
		ext2026.MethodResourcesRead, ext2026.MethodPromptsGet, ext2026.MethodCompletionComplete,
		ext2026.MethodTasksGet, ext2026.MethodTasksUpdate, ext2026.MethodTasksCancel:
		return true
	default:
		return false
	}
}

// again decides whether the request is sent again after failing the given
// number of times, and how long to wait before.
func (c *Client) again(method string, tries int, failed *failure) (time.Duration, bool) {
	switch {
	case failed.kind == final:
		return 0, false
	case Repeatable(method):
		return max(failed.after, c.delay(tries)), tries <= maxRetries
	default:
		return c.delay(tries), failed.kind == broken && !failed.sent && tries == 1
	}
}

// delay is the wait before a retry: doubling, with the upper half random so
// that many clients of a server that restarts do not come back at once.
func (c *Client) delay(tries int) time.Duration {
	longest := firstDelay << (tries - 1)
	return env.Jitter(c.env, longest, 0.5, 1)
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
