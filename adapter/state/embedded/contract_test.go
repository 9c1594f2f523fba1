package embedded_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/adapter/state/statetest"
	"github.com/taskbridge/taskbridge/internal/env"
)

func TestContract(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		statetest.Contract(t, func(t *testing.T) (state.Store, statetest.Clock) {
			clock := statetest.NewFakeClock()
			return open(t, embedded.Options{Path: filepath.Join(t.TempDir(), "state.db"), Env: clockEnv{env.System(), clock.Now}}), clock
		})
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		statetest.Contract(t, func(t *testing.T) (state.Store, statetest.Clock) {
			clock := statetest.NewFakeClock()
			return open(t, embedded.Options{Memory: true, Env: clockEnv{env.System(), clock.Now}}), clock
		})
	})
}

// clockEnv is an environment with a clock of the test's.
type clockEnv struct {
	env.Env
	now func() time.Time
}

func (e clockEnv) Now() time.Time { return e.now() }

// open opens a store that the caller closes.
func open(t *testing.T, opts embedded.Options) *embedded.Store {
	t.Helper()
	store, err := embedded.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return store
}
