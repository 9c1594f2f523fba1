// Package fix has code whose tests notice most changes.
package fix

import (
	"errors"
	"strconv"
)

// Kind is a named string, Level a named number.
type (
	Kind  string
	Level uint8
)

const (
	KindA Kind  = "a"
	Low   Level = 1
)

type set uint64

func (s set) with(n uint8) set { return s | 1<<n }

type options struct {
	name  string
	kind  Kind
	level Level
	limit int
}

var known = []string{"one", "two"}

var rows = map[Kind]Level{KindA: Low, "b": 2}

var table = [...]string{0: "zero", 2: "two"}

// names gives the other era's name of a member.
func names(member string) (string, error) {
	switch member {
	case "ttl":
		return "ttlMs", nil
	case "poll", "interval":
		return "pollMs", nil
	case "untested":
		return "untestedMs", nil
	default:
		return "", errors.New("unknown")
	}
}

func kind(k Kind) int {
	switch k {
	case KindA:
		return 1
	case "b":
		return 2
	}
	return 0
}

func level(l Level) string {
	switch l {
	case Low:
		return "low"
	case 2:
		return "high"
	}
	return "none"
}

type writer struct{ buf []byte }

func (w *writer) member(name string, value int) {
	w.buf = append(w.buf, name...)
	w.buf = strconv.AppendInt(w.buf, int64(value), 10)
}

func write(o options) []byte {
	var w writer
	w.member("a", o.limit)
	w.member("", 0) // writes a 0 that the test looks for
	if o.name != "" && o.level > 0 {
		w.member(o.name, int(o.level))
	}
	return append(w.buf, '.')
}

func defaults() options {
	return options{name: "n", kind: "b", level: 2, limit: 0}
}

func notes(lossy bool) set {
	if lossy {
		return set(0).with(1).with(2)
	}
	return 0
}

func join(parts ...string) string {
	out := ""
	for _, p := range parts {
		out += p
	}
	return out
}

func joined() string { return join("x", "y") }

func count(n int) int {
	total := 0
	for i := 0; i < n; i++ {
		total++
	}
	return total
}

func equivalent(n int) int {
	if n > 0 {
		return n
	}
	n += 0
	return n
}
