package mutate

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// An Allowed is a mutant that no test can tell from the original.
type Allowed struct {
	// Key is the mutant without its place: file | function | kind | text.
	Key string
	// Reason says why nothing can tell it.
	Reason string
	// Line is its line in the allow list, from 1.
	Line int
}

// ReadAllowed reads an allow list: a line per entry, five columns separated by
// " | " (file, function, kind, text, reason). Lines that begin with # and empty
// lines are left out. The text is taken up to the last separator, so it may hold
// separators itself. An entry covers every mutant with its first four columns.
func ReadAllowed(r io.Reader) ([]Allowed, error) {
	const columns = "file | function | kind | text | reason"
	var list []Allowed
	seen := map[string]int{}
	scanner := bufio.NewScanner(r)
	for n := 1; scanner.Scan(); n++ {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		last := strings.LastIndex(line, " | ")
		if strings.Count(line, " | ") < 4 || last < 0 || strings.TrimSpace(line[last+3:]) == "" {
			return nil, fmt.Errorf("line %d: want %s", n, columns)
		}
		a := Allowed{Key: strings.TrimSpace(line[:last]), Reason: strings.TrimSpace(line[last+3:]), Line: n}
		if seen[a.Key] > 0 {
			return nil, fmt.Errorf("line %d: the same as line %d", n, seen[a.Key])
		}
		seen[a.Key] = n
		list = append(list, a)
	}
	return list, scanner.Err()
}

// Judgement is the outcome of a run against an allow list.
type Judgement struct {
	// Count is how many mutants have each verdict.
	Count map[Verdict]int
	// Survivors are the survivors that no entry allows.
	Survivors []Result
	// Allowed is how many survivors entries allow.
	Allowed int
	// Unneeded are the entries without a survivor.
	Unneeded []Allowed
}

// Good reports whether every survivor is allowed and every entry needed.
func (j Judgement) Good() bool { return len(j.Survivors) == 0 && len(j.Unneeded) == 0 }

// Judge holds results against an allow list.
func Judge(results []Result, allowed []Allowed) Judgement {
	j := Judgement{Count: map[Verdict]int{}}
	used := map[string]bool{}
	known := map[string]bool{}
	for _, a := range allowed {
		known[a.Key] = true
	}
	for _, r := range results {
		j.Count[r.Verdict]++
		switch {
		case r.Verdict != Survived:
		case known[r.key()]:
			used[r.key()] = true
			j.Allowed++
		default:
			j.Survivors = append(j.Survivors, r)
		}
	}
	for _, a := range allowed {
		if !used[a.Key] {
			j.Unneeded = append(j.Unneeded, a)
		}
	}
	return j
}

// Write prints the judgement for people: what has to be done first, then a line
// of counts.
func (j Judgement) Write(w io.Writer) error {
	var out strings.Builder
	for _, r := range j.Survivors {
		fmt.Fprintf(&out, "survived: %s\n", r)
	}
	for _, a := range j.Unneeded {
		fmt.Fprintf(&out, "allowed, but nothing like it survived: line %d: %s\n", a.Line, a.Key)
	}
	total := 0
	for _, n := range j.Count {
		total += n
	}
	fmt.Fprintf(&out, "%d mutants: %d killed, %d timed out, %d not compiled, %d survived (%d of them allowed)\n",
		total, j.Count[Killed], j.Count[TimedOut], j.Count[NotCompiled], j.Count[Survived], j.Allowed)
	_, err := io.WriteString(w, out.String())
	return err
}
