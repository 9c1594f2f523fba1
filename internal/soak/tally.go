package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// tally holds the figures. It is safe for concurrent use.
type tally struct {
	mu       sync.Mutex
	answers  map[string]map[string]int // by what was done and what it got
	latency  map[string][]time.Duration
	shed     int
	faults   map[string]int // what should not have been
	streams  int            // open now
	streamed int            // open at most
	memory   []int64        // resident, in bytes, over time
	most     int64
	files    int
}

func newTally() *tally {
	return &tally{answers: map[string]map[string]int{}, latency: map[string][]time.Duration{}, faults: map[string]int{}}
}

// got counts an answer.
func (t *tally) got(what, kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers[what] == nil {
		t.answers[what] = map[string]int{}
	}
	t.answers[what][kind]++
}

// took notes how long a good client has waited.
func (t *tally) took(what string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latency[what] = append(t.latency[what], d)
}

// fault counts something that should not have been.
func (t *tally) fault(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults[fmt.Sprintf(format, args...)]++
}

func (t *tally) wasShed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shed++
}

func (t *tally) stream(change int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams += change
	t.streamed = max(t.streamed, t.streams)
}

// sample notes what the bridge holds.
func (t *tally) sample(now, most int64, files int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.memory = append(t.memory, now)
	t.most, t.files = max(t.most, most), max(t.files, files)
}

// percentile of a sorted list.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*p/100)].Round(100 * time.Microsecond)
}

const mib = 1 << 20

// print writes the figures, as a document quotes them.
func (t *tally) print(w io.Writer, o *Options) {
	t.mu.Lock()
	defer t.mu.Unlock()
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	say("resident at most %d MiB of %d allowed; files at most %d; idle streams %d at most, %d at the end",
		t.most/mib, o.Ceiling/mib, t.files, t.streamed, t.streams)
	say("resident over time, in MiB: %v", t.course())
	for _, what := range slices.Sorted(maps.Keys(t.latency)) {
		all := slices.Sorted(slices.Values(t.latency[what]))
		say("good %-24s %7d answered, p50 %v, p99 %v, longest %v", what, len(all), percentile(all, 50), percentile(all, 99), percentile(all, 100))
	}
	say("good clients were asked to come back %d times", t.shed)
	for _, what := range slices.Sorted(maps.Keys(t.answers)) {
		line := fmt.Sprintf("hostile %-21s", what)
		for _, kind := range slices.Sorted(maps.Keys(t.answers[what])) {
			line += fmt.Sprintf(" %s: %d;", kind, t.answers[what][kind])
		}
		say("%s", line)
	}
	for _, fault := range slices.Sorted(maps.Keys(t.faults)) {
		say("FAULT, %d times: %s", t.faults[fault], fault)
	}
}

// course is the memory at twenty times or less, in MiB.
func (t *tally) course() (out []int64) {
	const points = 20
	step := max(1, len(t.memory)/points)
	for i := 0; i < len(t.memory); i += step {
		out = append(out, t.memory[i]/mib)
	}
	return out
}
