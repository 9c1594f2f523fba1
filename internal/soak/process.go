package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// startTime is how long a process may take to say that it is ready.
const startTime = 20 * time.Second

// process is a program that is running.
type process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan error
}

// launch starts a program and hands every line that it prints to ready, until that
// reports true.
func launch(ctx context.Context, o *Options, name string, env, args []string, ready func(line string) bool) (*process, error) {
	log, err := os.Create(filepath.Join(o.Dir, name+".log")) //nolint:gosec // the directory is the caller's
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, o.Binary, args...) //nolint:gosec // running what the caller names is the purpose
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p := &process{cmd: cmd, log: log, done: make(chan error, 1)}
	up := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(out)
		for waiting := true; lines.Scan(); {
			if waiting && ready(lines.Text()) {
				waiting = false
				close(up)
			}
		}
		p.done <- cmd.Wait()
	}()
	select {
	case <-up:
		return p, nil
	case err := <-p.done:
		return nil, fmt.Errorf("%s ended at once: %w; see %s", name, err, log.Name())
	case <-time.After(startTime):
		return nil, errors.Join(fmt.Errorf("%s is not ready after %v", name, startTime), p.stop())
	}
}

// stop asks the process to end, and returns how it did.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-p.done:
		return errors.Join(err, p.log.Close())
	case <-time.After(2 * startTime):
		return errors.Join(errors.New("it does not stop"), p.cmd.Process.Kill(), p.log.Close())
	}
}

// resident is what the process has in memory, in bytes, now and at most.
func (p *process) resident() (now, most int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	read := func(key string) int64 {
		_, rest, _ := strings.Cut(string(text), "\n"+key+":")
		line, _, _ := strings.Cut(rest, "\n")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
		return kib << 10
	}
	if now, most = read("VmRSS"), read("VmHWM"); now == 0 || most == 0 {
		return 0, 0, errors.New("no figures of the memory of the process")
	}
	return now, most, nil
}

// files counts the files that the process has open.
func (p *process) files() int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	return len(entries)
}

// site is the bridge with the servers behind it.
type site struct {
	large     *large
	processes []*process // the bridge last
	address   string     // of the bridge
}

func (s *site) bridge() *process { return s.processes[len(s.processes)-1] }

// stop ends everything and returns how the bridge ended.
func (s *site) stop() error {
	var err error
	for i := len(s.processes) - 1; i >= 0; i-- {
		if end := s.processes[i].stop(); end != nil && i == len(s.processes)-1 {
			err = fmt.Errorf("the bridge: %w", end)
		}
	}
	return errors.Join(err, s.large.stop())
}

// build starts one server of each era, and the bridge in front of them with its
// memory limited.
func build(ctx context.Context, o *Options) (*site, error) {
	large, err := serveLarge(ctx)
	if err != nil {
		return nil, err
	}
	s := &site{large: large}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--admin", "off", "--store", "embedded:" + filepath.Join(o.Dir, "store.db")}
	for _, era := range []string{"modern", "legacy"} {
		target := ""
		p, err := launch(ctx, o, "demo-"+era, nil, []string{"demo", era, "--listen", "127.0.0.1:0"}, func(line string) bool {
			target = line
			return true
		})
		if err != nil {
			return nil, errors.Join(err, s.stopAll())
		}
		s.processes = append(s.processes, p)
		args = append(args, "--backend", era+"="+target)
	}
	args = append(args, "--backend", "large="+large.url, "--set", "backends.large.era=modern")
	env := []string{fmt.Sprintf("GOMEMLIMIT=%d", o.Ceiling*3/4)}
	p, err := launch(ctx, o, "bridge", env, append(args, o.settings()...), func(line string) bool {
		for _, word := range strings.Fields(line) {
			if u, err := url.Parse(word); err == nil && u.Path == "/legacy/modern" {
				s.address = u.Host
			}
		}
		return s.address != ""
	})
	if err != nil {
		return nil, errors.Join(err, s.stopAll())
	}
	s.processes = append(s.processes, p)
	return s, nil
}

func (s *site) stopAll() error {
	if len(s.processes) == 0 {
		return s.large.stop()
	}
	return s.stop()
}
