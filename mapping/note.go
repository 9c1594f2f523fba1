package mapping

import (
	"math/bits"
	"strings"
)

// Notes is the set of losses that a translation tolerated. It costs nothing to
// carry; [Notes.String] renders it for people.
type Notes uint64

// Has reports whether n is in the set.
func (s Notes) Has(n Note) bool { return s&(1<<n) != 0 }

// With returns the set with n added.
func (s Notes) With(n Note) Notes { return s | 1<<n }

// String renders the set one note a line, in a stable order.
func (s Notes) String() string {
	var b strings.Builder
	for ; s != 0; s &= s - 1 {
		b.WriteString(Note(bits.TrailingZeros64(uint64(s))).String()) //nolint:gosec // at most 63
		b.WriteByte('\n')
	}
	return b.String()
}
