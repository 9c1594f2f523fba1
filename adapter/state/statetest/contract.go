package statetest

import (
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// A Clock moves the time of a store under test.
type Clock interface {
	// Now returns the time by which the store lets records and leases expire.
	Now() time.Time
	// Advance lets d pass for all that the store holds. A clock that cannot
	// change the time may age the contents instead, and not move Now.
	Advance(d time.Duration)
	// Slack is how much earlier than an expiry a test must look to see what
	// expires for certain. It is less than [Life].
	Slack() time.Duration
}

// Life is how long what expires in the tests lives.
const Life = time.Minute

// Contract runs the whole contract. Each of its parts calls open for an empty
// store and its clock, and closes the store.
func Contract(t *testing.T, open func(t *testing.T) (state.Store, Clock)) {
	t.Helper()
	groups := []struct {
		name  string
		cases []testCase
	}{
		{"records", recordCases},
		{"conditions", conditionCases},
		{"expiry", expiryCases},
		{"list", listCases},
		{"leases", leaseCases},
		{"topics", topicCases},
		{"lifecycle", lifecycleCases},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.cases {
				t.Run(test.name, func(t *testing.T) {
					store, clock := open(t)
					t.Cleanup(func() {
						if err := store.Close(); err != nil {
							t.Errorf("close: %v", err)
						}
					})
					test.run(&fixture{T: t, store: store, clock: clock})
				})
			}
		})
	}
}

// testCase is one rule of the contract.
type testCase struct {
	name string
	run  func(f *fixture)
}

// FakeClock is a [Clock] for stores that take their time from it. It is moved by
// the tests only.
type FakeClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewFakeClock returns a clock that stands still.
func NewFakeClock() *FakeClock { return &FakeClock{now: time.UnixMilli(1_790_000_000_000)} }

// Now implements [Clock].
func (c *FakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance implements [Clock].
func (c *FakeClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Slack implements [Clock]: this clock is exact to the millisecond.
func (c *FakeClock) Slack() time.Duration { return time.Millisecond }
