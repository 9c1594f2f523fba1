package statetest

import (
	"sync"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
)

// Contract runs the whole contract. Each of its parts calls open for an empty
// store whose clock is now, and closes it.
func Contract(t *testing.T, open func(t *testing.T, now func() time.Time) state.Store) {
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
					clock := &clock{now: time.UnixMilli(1_790_000_000_000)}
					store := open(t, clock.Now)
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

// clock is moved by the tests only.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
