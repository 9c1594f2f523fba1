package redistest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// patience bounds every wait for a server.
	patience = 20 * time.Second
	// poll is how often such a wait looks.
	poll = 10 * time.Millisecond
	// attempts bounds how often a server is tried on another port, should
	// somebody else have taken the first.
	attempts = 5
)

// Options say how a server is configured. The zero Options are one server
// without persistence.
type Options struct {
	// Dir keeps the server's files. [Start] makes one if it is empty.
	Dir string
	// Fsync is the value of appendfsync, with which appendonly is on: always,
	// everysec or no. Empty means appendonly no.
	Fsync string
	// Password is what clients must present, if not empty.
	Password string
	// TLS makes the server speak TLS only, and want the certificate of a client.
	TLS *Certificates
	// Args are more arguments of redis-server, such as "--maxmemory", "1mb".
	Args []string

	sentinel bool
	cluster  bool
}

// Server is one Redis process, or what was one.
type Server struct {
	opts    Options
	port    int
	busPort int
	client  *redis.Client

	mu      sync.Mutex
	command *exec.Cmd
	exited  chan struct{}
}

// Start starts a server that lives as long as the test, or fails the test.
func Start(tb testing.TB, opts Options) *Server {
	tb.Helper()
	if opts.Dir == "" {
		opts.Dir = tb.TempDir()
	}
	s, err := Run(opts)
	if err != nil {
		tb.Fatalf("redis: %v", err)
	}
	tb.Cleanup(s.Close)
	return s
}

// Run starts a server and returns when it answers. It runs until [Server.Close].
func Run(opts Options) (*Server, error) {
	var errs []error
	for range attempts {
		ports, err := freePorts(2)
		if err != nil {
			return nil, err
		}
		s := &Server{opts: opts, port: ports[0], busPort: ports[1]}
		s.client = redis.NewClient(&redis.Options{
			Addr: s.Addr(), Password: opts.Password, Protocol: 2, MaxRetries: -1, DialerRetries: 1, TLSConfig: s.clientTLS(),
		})
		if err = s.Restart(); err == nil {
			return s, nil
		}
		s.Close()
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// Addr is the host:port of the server, the same after a restart.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL is the address as a URL, credentials and certificates included.
func (s *Server) URL() string { return s.opts.url("redis", s.Addr()+"/") }

// url makes a URL for these options: scheme without and with an s for TLS.
func (o Options) url(scheme, rest string) string {
	query := ""
	if o.TLS != nil {
		scheme = strings.Replace(scheme, "redis", "rediss", 1)
		query = "?ca_file=" + o.TLS.CA + "&cert=" + o.TLS.ClientCert + "&key=" + o.TLS.ClientKey
	}
	user := ""
	if o.Password != "" {
		user = ":" + o.Password + "@"
	}
	return scheme + "://" + user + rest + query
}

// Client returns a client of the server's own, for looking at it.
func (s *Server) Client() *redis.Client { return s.client }

// Restart starts the process again, on the same port and files, and returns
// when it answers. A process that still runs is killed first.
func (s *Server) Restart() error {
	s.Kill()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return fmt.Errorf("redis-server 7 or later is needed (on Debian: apt-get install redis-server): %w", err)
	}
	args, err := s.arguments()
	if err != nil {
		return err
	}
	output, err := os.OpenFile(filepath.Join(s.opts.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	command := exec.Command(path, args...) //nolint:gosec,noctx // a test's server, ended by Close
	command.Dir, command.Stdout, command.Stderr = s.opts.Dir, output, output
	if err := errors.Join(command.Start(), output.Close()); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = command.Wait() // its output says more
		close(exited)
	}()
	s.mu.Lock()
	s.command, s.exited = command, exited
	s.mu.Unlock()
	return s.await(exited)
}

// arguments returns the command line of redis-server.
func (s *Server) arguments() ([]string, error) {
	port := strconv.Itoa(s.port)
	args := []string{}
	if s.opts.sentinel {
		// Sentinels write what they learn into their file.
		file := filepath.Join(s.opts.Dir, "sentinel.conf")
		if _, err := os.Stat(file); err != nil {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				return nil, err
			}
		}
		args = append(args, file, "--sentinel")
	}
	args = append(args, "--bind", "127.0.0.1", "--dir", s.opts.Dir, "--daemonize", "no")
	if t := s.opts.TLS; t != nil {
		args = append(args, "--port", "0", "--tls-port", port, "--tls-ca-cert-file", t.CA,
			"--tls-cert-file", t.ServerCert, "--tls-key-file", t.ServerKey, "--tls-replication", "yes", "--tls-cluster", "yes")
	} else {
		args = append(args, "--port", port)
	}
	if s.opts.sentinel {
		return append(args, s.opts.Args...), nil
	}
	args = append(args, "--save", "")
	if s.opts.Fsync != "" {
		args = append(args, "--appendonly", "yes", "--appendfsync", s.opts.Fsync)
	}
	if s.opts.Password != "" {
		args = append(args, "--requirepass", s.opts.Password, "--masterauth", s.opts.Password)
	}
	if s.opts.cluster {
		args = append(args, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(s.busPort), "--cluster-node-timeout", "2000")
	}
	return append(args, s.opts.Args...), nil
}

// await returns when the server answers and has loaded its data.
func (s *Server) await(exited <-chan struct{}) error {
	deadline := time.Now().Add(patience)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err := s.client.Ping(ctx).Err()
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("redis-server has ended: %s", s.tail())
		case <-time.After(poll):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("redis-server does not answer: %w: %s", err, s.tail())
		}
	}
}

// tail returns the end of the server's output.
func (s *Server) tail() string {
	const most = 2000
	text, err := os.ReadFile(filepath.Join(s.opts.Dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// Pause stops the process where it is: connections stay and nobody answers.
func (s *Server) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume undoes Pause.
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

// Kill ends the process at once, as kill -9 does, and returns when it is gone.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Shutdown ends the process as an operator would.
func (s *Server) Shutdown() { s.end(syscall.SIGTERM) }

// Close ends the process for good.
func (s *Server) Close() {
	s.Kill()
	_ = s.client.Close() // nothing is lost with it
}

func (s *Server) signal(signal syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command == nil {
		return errors.New("redis-server does not run")
	}
	return s.command.Process.Signal(signal)
}

func (s *Server) end(signal syscall.Signal) {
	s.mu.Lock()
	command, exited := s.command, s.exited
	s.command = nil
	s.mu.Unlock()
	if command == nil {
		return
	}
	_ = command.Process.Signal(signal)          // it may be gone already
	_ = command.Process.Signal(syscall.SIGCONT) // it may stand still
	select {
	case <-exited:
	case <-time.After(patience):
		_ = command.Process.Kill() // as above
		<-exited
	}
}

func (s *Server) clientTLS() *tls.Config {
	if s.opts.TLS == nil {
		return nil
	}
	return s.opts.TLS.client.Clone()
}

// freePorts returns ports that nobody listens on, all different.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // all stay open until all are known
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return nil, errors.New("not a TCP address")
		}
		ports = append(ports, addr.Port)
	}
	return ports, nil
}
