package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/state/redis"
	"github.com/taskbridge/taskbridge/adapter/state/redis/redisurl"
)

// parse reads a URL.
func parse(t testing.TB, url string) *redisurl.Address {
	t.Helper()
	address, err := redisurl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// fakeServer answers INFO with the given text and everything else with OK.
func fakeServer(t *testing.T, info string) string {
	t.Helper()
	return listener(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			name, err := readCommand(in)
			if err != nil {
				return
			}
			answer := "+OK\r\n"
			switch strings.ToLower(name) {
			case "hello":
				answer = "-ERR unknown command 'HELLO'\r\n"
			case "info":
				answer = fmt.Sprintf("$%d\r\n%s\r\n", len(info), info)
			}
			if _, err := io.WriteString(conn, answer); err != nil {
				return
			}
		}
	})
}

// listener serves connections until the test ends, and returns its address.
func listener(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// readCommand reads one command and returns its name.
func readCommand(in *bufio.Reader) (name string, err error) {
	count, err := readNumber(in, "*")
	for i := 0; i < count && err == nil; i++ {
		var size int
		if size, err = readNumber(in, "$"); err != nil {
			break
		}
		word := make([]byte, size+2)
		_, err = io.ReadFull(in, word)
		if i == 0 {
			name = string(word[:size])
		}
	}
	return name, err
}

func readNumber(in *bufio.Reader, mark string) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(line), mark))
}

func TestRefusesServersThatCannotServe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ info, want string }{
		"too old":      {"# Server\r\nredis_version:6.2.14\r\nrole:master\r\n", "6.2.14 is too old: 7 or later"},
		"much too old": {"redis_version:2.8\r\n", "too old"},
		"no version":   {"server:other\r\n", "does not tell its version"},
		"in a cluster": {"redis_version:7.0.0\r\ncluster_enabled:1\r\n", "redis+cluster://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := redis.Open(t.Context(), redis.Options{Address: parse(t, "redis://user:secret@"+fakeServer(t, test.info))})
			if !errors.Is(err, redis.ErrSetup) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

func TestRefusesWhatIsNotRedis(t *testing.T) {
	t.Parallel()
	address := listener(t, func(conn net.Conn) {
		_, _ = bufio.NewReader(conn).ReadString('\n')
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
	if _, err := redis.Open(t.Context(), redis.Options{Address: parse(t, "redis://"+address)}); !errors.Is(err, redis.ErrSetup) {
		t.Errorf("got error %v, want %v", err, redis.ErrSetup)
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := redis.Open(ctx, redis.Options{Address: parse(t, "redis://"+fakeServer(t, ""))}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}
