package edge

import (
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Accepts are the answers a client takes.
type Accepts struct{ JSON, EventStream bool }

// How exactly a media range names a type; the most exact range decides.
const (
	matchAll  = iota + 1 // */*
	matchType            // text/*
	matchFull            // text/event-stream
)

// verdict is what the ranges seen so far say of one type.
type verdict struct {
	match int
	takes bool
}

// ParseAccept reads the Accept header; an absent or empty one admits everything.
// A range with weight 0 forbids what it names, whatever wider ranges say.
func ParseAccept(r *http.Request) Accepts {
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return Accepts{JSON: true, EventStream: true}
	}
	var json, events verdict
	for part := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
			continue
		}
		takes := !weighsNothing(params["q"])
		json.consider(match(media, JSON), takes)
		events.consider(match(media, EventStream), takes)
	}
	return Accepts{JSON: json.takes, EventStream: events.takes}
}

// match says how exactly a range names a type, or 0.
func match(media, full string) int {
	kind, _, _ := strings.Cut(full, "/")
	switch media {
	case full:
		return matchFull
	case kind + "/*":
		return matchType
	case "*/*":
		return matchAll
	default:
		return 0
	}
}

func (v *verdict) consider(match int, takes bool) {
	switch {
	case match == 0 || match < v.match:
	case match == v.match:
		v.takes = v.takes || takes
	default:
		*v = verdict{match, takes}
	}
}

// weighsNothing reports whether a q parameter is zero or no number at all.
func weighsNothing(q string) bool {
	if q == "" {
		return false
	}
	weight, err := strconv.ParseFloat(q, 64)
	return err != nil || !(weight > 0)
}
