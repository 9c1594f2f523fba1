package conversation

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Form is the form of an answer's body.
type Form string

// The forms.
const (
	JSON Form = "json"
	SSE  Form = "sse"
)

// Act is what a step does other than sending a message.
type Act string

// The acts; see the package's comment.
const (
	HangUp Act = "hang up"
	Abort  Act = "abort"
	Cut    Act = "cut"
	End    Act = "end"
)

// Header is a header field. The value may hold placeholders.
type Header struct{ Name, Value string }

// Facts are the facts of a step. What is not said is zero.
type Facts struct {
	// Method is the HTTP method, Status the status of an answer.
	Method string
	Status int
	Form   Form
	// On names the exchange that the step belongs to, As gives a name to it.
	On, As string
	// Route is the backend whose route a request goes to.
	Route string
	Act   Act
	// Raw says that the message need not be JSON, Pad how many spaces follow it.
	Raw bool
	Pad int
	// Event is the id of the event that the message comes with, Primed that of the
	// event without a message that its stream began with. Unprimed says that the
	// stream began with none.
	Event, Primed string
	Unprimed      bool
	// Headers are sent or expected, Absent are the names of those that are not.
	Headers []Header
	Absent  []string

	text string
}

// String returns the facts as they were written, without the brackets.
func (f *Facts) String() string { return f.text }

// Header returns the value that the facts give to a header.
func (f *Facts) Header(name string) (string, bool) {
	for _, h := range f.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value, true
		}
	}
	return "", false
}

// allowed lists the words that mean something on a leg.
var allowed = map[Leg][]string{
	ClientToBridge:   {"method", "route", "as", "on", "raw", "pad", string(HangUp)},
	BridgeToClient:   {"status", "form", "on", "raw", "event", "primed", string(End)},
	BridgeToUpstream: {"method", "as", "on", string(Abort)},
	UpstreamToBridge: {"status", "form", "on", "raw", "pad", "event", string(Cut), string(End)},
}

func parseFacts(leg Leg, text string) (Facts, error) {
	f := Facts{text: text}
	for word := range strings.SplitSeq(text, "|") {
		word = strings.TrimSpace(word)
		kind, err := f.parse(word)
		if err != nil {
			return f, fmt.Errorf("facts: %q: %w", word, err)
		}
		if kind != "header" && !slices.Contains(allowed[leg], kind) {
			return f, fmt.Errorf("facts: %q means nothing on %s", word, leg)
		}
	}
	return f, nil
}

// methods are those that a client may try on a route.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodPut, http.MethodOptions}

// parse reads one fact and returns its kind.
func (f *Facts) parse(word string) (kind string, err error) {
	first, rest, _ := strings.Cut(word, " ")
	switch {
	case strings.HasSuffix(first, ":") && len(first) > 1:
		f.Headers = append(f.Headers, Header{strings.TrimSuffix(first, ":"), rest})
		return "header", nil
	case first == "no" && rest != "":
		f.Absent = append(f.Absent, rest)
		return "header", nil
	case first == "on" && rest != "":
		f.On = rest
		return "on", nil
	case first == "as" && rest != "":
		f.As = rest
		return "as", nil
	case first == "route" && rest != "":
		f.Route = rest
		return "route", nil
	case first == "event" && rest != "":
		f.Event = rest
		return "event", nil
	case first == "primed" && rest != "":
		f.Primed = rest
		return "primed", nil
	case first == "pad":
		f.Pad, err = strconv.Atoi(rest)
		return "pad", err
	case slices.Contains(methods, word):
		f.Method = word
		return "method", nil
	}
	switch word {
	case "unprimed":
		f.Unprimed = true
		return "primed", nil
	case "raw":
		f.Raw = true
		return "raw", nil
	case string(JSON), string(SSE):
		f.Form = Form(word)
		return "form", nil
	case string(HangUp), string(Abort), string(Cut), string(End):
		f.Act = Act(word)
		return word, nil
	}
	if status, err := strconv.Atoi(word); err == nil && status >= 100 && status <= 599 {
		f.Status = status
		return "status", nil
	}
	return "", fmt.Errorf("unknown")
}
