//go:build interop

package ledger_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// outcomes are the columns of the report.
var outcomes = []string{"completed", "cancelled", "interrupted", "without a task", "cut before a handle", "refused", "out of balance"}

// column is where an entry belongs.
func (e *entry) column() string {
	switch {
	case len(e.problems) > 0:
		return "out of balance"
	case e.cut != "":
		return "cut before a handle"
	case e.refused != "":
		return "refused"
	case e.plain:
		return "without a task"
	case e.interrupted():
		return "interrupted"
	default:
		return e.status
	}
}

// publish logs the books, and puts them into the report.
func (b *books) publish(title string, took time.Duration) {
	b.Helper()
	count := make(map[string]map[string]int)
	total := make(map[string]int)
	for _, e := range b.entries {
		row := e.kind.String()
		if count[row] == nil {
			count[row] = make(map[string]int)
		}
		count[row][e.column()]++
		total[e.column()]++
	}
	var out strings.Builder
	line := func(name string, of map[string]int) {
		all := 0
		fmt.Fprintf(&out, "| %s |", name)
		for _, o := range outcomes {
			fmt.Fprintf(&out, " %d |", of[o])
			all += of[o]
		}
		fmt.Fprintf(&out, " %d |\n", all)
	}
	fmt.Fprintf(&out, "| client → backend, tool | %s | all |\n|---|%s\n", strings.Join(outcomes, " | "), strings.Repeat("---|", len(outcomes)+1))
	for _, k := range kinds {
		line(k.String(), count[k.String()])
	}
	line("all", total)
	fmt.Fprintf(&out, "\n%s\n", b.story(took))
	if len(b.tally.count) > 0 {
		out.WriteString("\n| what clients did again | times |\n|---|---|\n")
	}
	for _, what := range slices.Sorted(maps.Keys(b.tally.count)) {
		fmt.Fprintf(&out, "| %s | %d |\n", what, b.tally.count[what])
	}
	b.Logf("\n%s", out.String())
	for _, e := range b.entries {
		if why := e.refused + e.cut; why != "" {
			b.Logf("%s (%s) at %s, after %v: %s", e.nonce(), e.kind, e.made.Format(clock), e.ended.Sub(e.made).Round(100*time.Millisecond), why)
		}
	}
	fmt.Fprintf(&sections, "\n## %s\n\n%s", title, out.String())
}

// sections are the books of all tests.
var sections strings.Builder

// story says what happened to the fleet.
func (b *books) story(took time.Duration) string {
	var away time.Duration
	for _, s := range b.absent {
		away += s.to.Sub(s.from)
	}
	return fmt.Sprintf("%d tasks in %v, until the last had ended. Replicas killed: %d. Redis away: %d times, %v in all. "+
		"A task took %v (median) from its call to its end, %v at most.",
		len(b.entries), took.Round(time.Second), b.kills, len(b.absent), away.Round(10*time.Millisecond),
		b.lasted(0.5).Round(100*time.Millisecond), b.lasted(1).Round(100*time.Millisecond))
}

// lasted is how long the tasks took that came to an end, at a quantile.
func (b *books) lasted(quantile float64) time.Duration {
	var all []time.Duration
	for _, e := range b.entries {
		if e.status != "" {
			all = append(all, e.ended.Sub(e.made))
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(quantile*float64(len(all)-1))]
}

const preface = `# The ledger

Written by ` + "`make ledger`" + `, which fails, and writes nothing, if the books do not balance. Tasks of every kind run through three
replicas of the bridge (` + "`taskbridge serve`" + `, processes of their own) over one Redis (` + "`appendonly yes`, `appendfsync always`" + `), every
request at a replica that chance chooses, in front of one backend of each era. Clients repeat what the protocol lets them repeat,
and never a call whose outcome they do not know.

Checked for each task, against the journals of the backends and the log of who was killed when:

- it has one outcome, which never changes afterwards: that of the backend; or, for a call that the bridge hosts, that of the
  call, and "interrupted" if and only if the process that ran the call was killed before the end was on record;
- its tool was called once, and no question was answered twice, nor asked again once an answer was accepted;
- its handle answers in the end, and is listed once where the era has a list.

"Cut before a handle" are calls whose client got no answer: it does not repeat them, and they ran once at most. "Refused" are
calls that were answered with an error, such as those made while Redis was away; slow calls that the bridge could not host then
are answered "without a task". Neither may happen while replicas are only replaced.
`
