package conversation

import (
	"fmt"
	"strings"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// Leg is the way that a message takes.
type Leg string

// The legs.
const (
	ClientToBridge   Leg = "c>b"
	BridgeToUpstream Leg = "b>u"
	UpstreamToBridge Leg = "u>b"
	BridgeToClient   Leg = "b>c"
)

// Expected reports whether messages of this leg are the bridge's.
func (l Leg) Expected() bool { return l == BridgeToUpstream || l == BridgeToClient }

// Event is a step that is no message.
type Event string

// The events.
const (
	// Wait is a time in which the bridge says nothing.
	Wait Event = "wait"
	// UpstreamDown and UpstreamUp end and begin the server's life.
	UpstreamDown Event = "upstream down"
	UpstreamUp   Event = "upstream up"
	// BridgeStop begins the shutdown.
	BridgeStop Event = "bridge stop"
)

// Step is one line of a conversation. Leg or Event is set.
type Step struct {
	// Number counts the steps from 1; Line is where the step begins in the
	// section, from 1 as well.
	Number, Line int
	Leg          Leg
	Facts        Facts
	// Message is the JSON of the step, placeholders and macros included, or text
	// of any kind with Facts.Raw. Absent is no message.
	Message wire.Value

	Event Event
	// For is the duration of a Wait.
	For time.Duration

	lines int // that the step takes
}

// Script is a parsed conversation.
type Script struct {
	Steps []Step
	lines []string
}

// Parse reads a conversation. The error names the line.
func Parse(text []byte) (*Script, error) {
	s := &Script{lines: strings.Split(string(text), "\n")}
	for i := 0; i < len(s.lines); {
		line := s.lines[i]
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
			i++
			continue
		case line[0] == ' ' || line[0] == '\t':
			return nil, fmt.Errorf("line %d: white space goes on with a message, and there is none", i+1)
		}
		step := Step{Number: len(s.Steps) + 1, Line: i + 1, lines: 1}
		for _, more := range s.lines[i+1:] {
			if strings.TrimSpace(more) == "" || more[0] != ' ' && more[0] != '\t' {
				break
			}
			line += "\n" + strings.TrimSpace(more)
			step.lines++
		}
		if err := step.parse(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		s.Steps = append(s.Steps, step)
		i += step.lines
	}
	if len(s.Steps) == 0 {
		return nil, fmt.Errorf("no steps")
	}
	return s, nil
}

func (s *Step) parse(line string) error {
	head, rest, _ := strings.Cut(line, " ")
	switch leg := Leg(head); leg {
	case ClientToBridge, BridgeToUpstream, UpstreamToBridge, BridgeToClient:
		s.Leg = leg
		return s.parseMessage(strings.TrimSpace(rest))
	}
	if event := Event(line); event == UpstreamDown || event == UpstreamUp || event == BridgeStop {
		s.Event = event
		return nil
	}
	if head != string(Wait) {
		return fmt.Errorf("%q begins no step", head)
	}
	var err error
	s.Event = Wait
	if s.For, err = time.ParseDuration(rest); err != nil || s.For <= 0 {
		return fmt.Errorf("wait: want a duration, got %q", rest)
	}
	return nil
}

func (s *Step) parseMessage(rest string) error {
	if strings.HasPrefix(rest, "[") {
		facts, after, err := cutFacts(rest)
		if err != nil {
			return err
		}
		if s.Facts, err = parseFacts(s.Leg, facts); err != nil {
			return err
		}
		rest = strings.TrimSpace(after)
	}
	if rest == "" || s.Facts.Raw {
		s.Message = wire.Value(rest)
		return nil
	}
	message, err := wire.Check([]byte(rest))
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	s.Message = message
	return nil
}

// cutFacts splits the facts, without their brackets, from what follows them.
func cutFacts(text string) (facts, rest string, err error) {
	for from := 1; ; {
		end := strings.IndexByte(text[from:], ']')
		if end < 0 {
			return "", "", fmt.Errorf("facts: want a closing bracket")
		}
		end += from
		if end+1 == len(text) || text[end+1] == ' ' || text[end+1] == '\n' {
			return text[1:end], text[end+1:], nil
		}
		from = end + 1
	}
}

// Replace returns the text of the conversation with other messages in some of
// the steps, by number. Every other line stays as it is.
func (s *Script) Replace(messages map[int]wire.Value) []byte {
	lines := make([]string, 0, len(s.lines))
	next := 0
	for _, step := range s.Steps {
		lines = append(lines, s.lines[next:step.Line-1]...)
		next = step.Line - 1 + step.lines
		message, replaced := messages[step.Number]
		if !replaced {
			lines = append(lines, s.lines[step.Line-1:next]...)
			continue
		}
		line := string(step.Leg)
		if facts := step.Facts.String(); facts != "" {
			line += " [" + facts + "]"
		}
		lines = append(lines, strings.TrimSuffix(line+" "+string(message), " "))
	}
	return []byte(strings.Join(append(lines, s.lines[next:]...), "\n"))
}
