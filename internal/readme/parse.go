package readme

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Verb says what is done with a block of commands.
type Verb string

// The verbs of a marker; package documentation says what each does.
const (
	Serve   Verb = "serve"
	Run     Verb = "run"
	Test    Verb = "test"
	Skip    Verb = "skip"
	Example Verb = "example"
)

// A Step is one marked block of commands and what is expected of it.
type Step struct {
	// Verb is Serve, Run, Test or Skip.
	Verb Verb
	// Line is where the block begins in the document, from 1.
	Line int
	// Script is the block as printed.
	Script string
	// Want is the expected output, nil for none.
	Want *Output
	// Exit is the exit status that is expected.
	Exit int
	// Timeout is how long the block may take, or a server to be ready.
	Timeout time.Duration
	// Reason says why a block is skipped.
	Reason string
}

// An Output is a block of expected output.
type Output struct {
	// Line is where the block begins in the document, from 1.
	Line int
	// JSON is set if white space between JSON tokens does not count.
	JSON bool
	// Text is the block as printed.
	Text string
}

var (
	markerLine = regexp.MustCompile(`^<!--\s*ci:\s*(.*?)\s*-->\s*$`)
	fenceLine  = regexp.MustCompile("^(```+|~~~+)\\s*(\\w*)")
	shells     = []string{"sh", "bash", "shell", "console"}
	outputs    = []string{"text", "json"}
	timeouts   = map[Verb]time.Duration{Serve: 5 * time.Minute, Run: time.Minute, Test: 30 * time.Minute}
)

// block is a fenced block with the marker above it.
type block struct {
	marker     string // after "ci:", empty for none
	markerLine int
	line       int // of the opening fence
	lang       string
	text       string
}

// Parse reads the steps of a document, in order. The error names the line.
func Parse(document string) ([]Step, error) {
	blocks, err := fencedBlocks(document)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for i, b := range blocks {
		if !slices.Contains(shells, b.lang) {
			if b.marker != "" && b.marker != string(Example) {
				return nil, fmt.Errorf("line %d: ci: %s stands above a block that is no shell commands", b.markerLine, b.marker)
			}
			continue
		}
		step, err := newStep(b)
		if err != nil {
			return nil, err
		}
		if i+1 < len(blocks) && (step.Verb == Run || step.Verb == Serve) {
			if next := blocks[i+1]; next.marker == "" && slices.Contains(outputs, next.lang) {
				step.Want = &Output{Line: next.line, JSON: next.lang == "json", Text: next.text}
			}
		}
		if step.Verb == Serve && (step.Want == nil || step.Want.JSON) {
			return nil, fmt.Errorf("line %d: no text block after it says what a ready server prints", b.line)
		}
		if step.Verb != Example {
			steps = append(steps, step)
		}
	}
	return steps, nil
}

func newStep(b block) (Step, error) {
	step := Step{Line: b.line, Script: b.text}
	if b.marker == "" {
		return step, fmt.Errorf("line %d: a block of shell commands without a ci marker", b.line)
	}
	if reason, ok := strings.CutPrefix(b.marker, string(Skip)+":"); ok && strings.TrimSpace(reason) != "" {
		step.Verb, step.Reason = Skip, strings.TrimSpace(reason)
		return step, nil
	}
	words := strings.Fields(b.marker)
	step.Verb = Verb(words[0])
	step.Timeout = timeouts[step.Verb]
	if step.Timeout == 0 && (step.Verb != Example || len(words) > 1) {
		return step, fmt.Errorf("line %d: unknown marker ci: %s", b.markerLine, b.marker)
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch {
		case name == "timeout":
			step.Timeout, err = time.ParseDuration(value)
		case name == "exit" && step.Verb == Run:
			step.Exit, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("unknown option %s", word)
		}
		if err != nil {
			return step, fmt.Errorf("line %d: marker ci: %s: %w", b.markerLine, b.marker, err)
		}
	}
	return step, nil
}

// fencedBlocks returns all fenced blocks of a document. A marker belongs to the
// next block, and only blank lines may stand between.
func fencedBlocks(document string) ([]block, error) {
	var (
		blocks []block
		next   block  // holds a marker until its block comes
		open   string // the fence of the block being read
		n      int
	)
	for line := range strings.Lines(document) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if open != "" {
			if strings.HasPrefix(line, open) && strings.Trim(line, open[:1]+" ") == "" {
				blocks, next, open = append(blocks, next), block{}, ""
			} else {
				next.text += line + "\n"
			}
			continue
		}
		marker, fence := markerLine.FindStringSubmatch(line), fenceLine.FindStringSubmatch(line)
		switch {
		case fence != nil:
			open, next.line, next.lang = fence[1], n, strings.ToLower(fence[2])
		case next.marker != "" && strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("line %d: marker ci: %s has no block right below it", next.markerLine, next.marker)
		case marker != nil && marker[1] == "":
			return nil, fmt.Errorf("line %d: empty ci marker", n)
		case marker != nil:
			next.marker, next.markerLine = marker[1], n
		}
	}
	if open != "" {
		return nil, fmt.Errorf("line %d: a fenced block without an end", next.line)
	}
	if next.marker != "" {
		return nil, fmt.Errorf("line %d: marker ci: %s has no block right below it", next.markerLine, next.marker)
	}
	return blocks, nil
}
