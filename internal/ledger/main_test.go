//go:build interop

package ledger_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var (
	tasks    = flag.Int("tasks", 200, "how many tasks TestLedger makes")
	duration = flag.Duration("duration", 20*time.Second, "how long TestLedger goes on making them")
	killing  = flag.Duration("kill", 8*time.Second, "how often TestLedger kills a replica")
	outage   = flag.Duration("outage", 5*time.Second, "how long TestOutage keeps Redis away, each time")
	logs     = flag.String("logs", "", "the directory in which the logs of all processes stay")
	report   = flag.String("report", "", "the file into which the books are written")
)

// asBackend makes the test binary a backend of the era that it names.
const asBackend = "TASKBRIDGE_LEDGER_BACKEND"

// binary is the bridge as it is shipped.
var binary string

func TestMain(m *testing.M) {
	if era := os.Getenv(asBackend); era != "" {
		serveBackend(era)
		return
	}
	flag.Parse()
	os.Exit(run(m)) //nolint:forbidigo // it is main
}

// run builds the bridge, unless TASKBRIDGE_BIN names one, and runs the tests.
func run(m *testing.M) int {
	if binary = os.Getenv("TASKBRIDGE_BIN"); binary != "" {
		return publishAll(m.Run())
	}
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "taskbridge")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "../../cmd/taskbridge")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fail(err)
	}
	return publishAll(m.Run())
}

// publishAll writes the report, if one is asked for and every test has passed.
func publishAll(code int) int {
	if code != 0 || *report == "" {
		return code
	}
	if err := os.WriteFile(*report, []byte(preface+sections.String()), 0o644); err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, "ledger:", err)
	return 1
}
