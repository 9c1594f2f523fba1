//go:build interop

package ledger_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/internal/balance"
	"github.com/taskbridge/taskbridge/internal/redistest"
)

// patience bounds every wait of the harness for a process.
const patience = 30 * time.Second

// process is a running program that has printed its address.
type process struct {
	cmd    *exec.Cmd
	url    string
	exited chan struct{} // closed once it has ended
	log    string        // the file of its standard error
}

// launch starts a program and waits for its address.
func launch(t *testing.T, log string, env []string, name string, args ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
	cmd.Env = append(env, "HOME="+t.TempDir())
	errOut, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errOut.Close() }()
	cmd.Stderr = errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, exited: make(chan struct{}), log: log}
	t.Cleanup(p.kill)
	address := make(chan string, 1)
	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			for word := range strings.FieldsSeq(lines.Text()) {
				if strings.HasPrefix(word, "http://") && len(address) == 0 {
					address <- word
				}
			}
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // how it ended is seen in its log
	}()
	select {
	case p.url = <-address:
	case <-p.exited:
		t.Fatalf("%s has ended: %s", name, tail(log))
	case <-time.After(patience):
		t.Fatalf("%s says nothing: %s", name, tail(log))
	}
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.exited
}

func tail(file string) string {
	const most = 4000
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// life is the time of one run of a replica.
type life struct {
	began time.Time
	// killed is when it was killed with -9, and asked when it was told to stop; zero if
	// that has not happened.
	killed, asked time.Time
}

// replica is a place in the fleet, at which one process runs after another.
type replica struct {
	number, run int
	process     *process
}

// name is that of a run, by which backends know it.
func (r *replica) name() string { return fmt.Sprintf("%d.%d", r.number, r.run) }

// fleet is three replicas of the bridge over one Redis, behind a balancer, with a
// backend of each era; each of them is a process of its own, but for the balancer.
type fleet struct {
	*testing.T
	dir      string
	redis    *redistest.Server
	backends map[string]*process // by era
	balancer *balance.Balancer
	front    string // the balancer's URL
	replicas [3]*replica

	mu      sync.Mutex
	secrets []string
	lives   map[string]*life
	absent  []span // when Redis was away
	kills   int
}

// span is a stretch of time.
type span struct{ from, to time.Time }

const firstSecret = "the-first-secret-of-the-fleet"

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{
		T: t, dir: t.TempDir(), backends: make(map[string]*process), lives: make(map[string]*life),
		secrets: []string{firstSecret}, balancer: balance.New(),
	}
	if *logs != "" {
		f.dir = filepath.Join(*logs, t.Name())
		if err := os.MkdirAll(f.dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.redis = redistest.Start(t, redistest.Options{Fsync: "always"})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, era := range []string{"modern", "legacy"} {
		f.backends[era] = launch(t, filepath.Join(f.dir, era+".log"), append(os.Environ(), asBackend+"="+era), self)
	}
	for i := range f.replicas {
		f.replicas[i] = &replica{number: i + 1}
		f.start(i)
	}
	server := httptest.NewServer(f.balancer)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	f.front = server.URL
	return f
}

// start starts a replica anew, and lets the balancer know.
func (f *fleet) start(i int) {
	f.Helper()
	r := f.replicas[i]
	r.run++
	f.mu.Lock()
	f.lives[r.name()] = &life{began: time.Now()}
	secrets := f.secrets
	f.mu.Unlock()
	config := filepath.Join(f.dir, r.name()+".json")
	backend := func(era string) map[string]any {
		return map[string]any{"url": f.backends[era].url + "/" + r.name() + "/mcp", "era": era}
	}
	legacy := backend("legacy")
	legacy["host_tasks"], legacy["host_grace"] = "slow", "100ms"
	text, err := json.Marshal(map[string]any{
		"listen": "127.0.0.1:0", "store": f.redis.URL(), "secrets": secrets,
		"backends": map[string]any{"modern": backend("modern"), "legacy": legacy},
		"defaults": map[string]any{"sync_grace": "50ms"},
		"times":    map[string]any{"hosted_poll": pollInterval.String()},
	})
	if err == nil {
		err = os.WriteFile(config, text, 0o600)
	}
	if err != nil {
		f.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH")}
	r.process = launch(f.T, filepath.Join(f.dir, r.name()+".log"), env, binary, "serve", "--config", config, "--admin", "off")
	f.balance()
}

// balance tells the balancer which replicas there are, but for those left out.
func (f *fleet) balance(without ...int) {
	var all []*url.URL
	for i, r := range f.replicas {
		if r == nil || r.process == nil || len(without) > 0 && without[0] == i {
			continue
		}
		u, err := url.Parse(r.process.url)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, u)
	}
	f.balancer.Set(all...)
}

// kill kills a replica with -9.
func (f *fleet) kill(i int) {
	r := f.replicas[i]
	f.mu.Lock()
	f.lives[r.name()].killed = time.Now()
	f.kills++
	f.mu.Unlock()
	r.process.kill()
}

// drainPause is the time between taking a replica out of the balancer and telling it to
// stop: requests that the balancer has sent to it must have arrived.
const drainPause = time.Second

// stop asks a replica to stop, as an orchestrator does: it is taken out of the balancer,
// told a moment later, and what it serves already it may serve to the end.
func (f *fleet) stop(i int) {
	f.Helper()
	r := f.replicas[i]
	f.balance(i)
	time.Sleep(drainPause)
	f.mu.Lock()
	f.lives[r.name()].asked = time.Now()
	f.mu.Unlock()
	if err := r.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		f.Fatal(err)
	}
	select {
	case <-r.process.exited:
	case <-time.After(patience):
		f.Errorf("replica %s does not stop", r.name())
		r.process.kill()
	}
	f.Logf("replica %s told to stop at %s, gone after %v", r.name(), f.lives[r.name()].asked.Format(clock), time.Since(f.lives[r.name()].asked).Round(time.Millisecond))
	if code := r.process.cmd.ProcessState.ExitCode(); code != 0 {
		f.Errorf("replica %s has stopped with code %d: %s", r.name(), code, tail(r.process.log))
	}
}

// without keeps Redis away for as long as during runs.
func (f *fleet) without(end, begin func() error, during func()) {
	f.Helper()
	away := span{from: time.Now()}
	if err := begin(); err != nil {
		f.Fatal(err)
	}
	during()
	if err := end(); err != nil {
		f.Fatal(err)
	}
	away.to = time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.absent = append(f.absent, away)
}

// journal returns what a backend was asked so far.
func (f *fleet) journal(era string) journal {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.backends[era].url+"/journal", nil)
	if err != nil {
		f.Fatal(err)
	}
	resp, err := new(http.Client).Do(r)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var j journal
	if err := json.NewDecoder(resp.Body).Decode(&j); err != nil {
		f.Fatal(err)
	}
	return j
}

// inspect looks into the logs of the replicas for what must never be there.
func (f *fleet) inspect() {
	f.Helper()
	logs, err := filepath.Glob(filepath.Join(f.dir, "*.log"))
	if err != nil || len(logs) == 0 {
		f.Fatalf("no logs: %v", err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, bad := range []string{"panic", "DATA RACE", "leak", "fatal error"} {
				if strings.Contains(line, bad) {
					f.Errorf("%s: %s", filepath.Base(log), line)
				}
			}
		}
	}
}
