package redis

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/env"
)

// TestPatience: what moves may take its time, what stands still may not.
func TestPatience(t *testing.T) {
	t.Parallel()
	const limit, pace, parts = time.Second, 800 * time.Millisecond, 5
	tests := map[string]struct {
		set  func(c *patientConn) error
		here func(c *patientConn, size int) error       // what waits
		far  func(peer net.Conn, size int) (int, error) // what the other end does with a part
		size int
	}{
		"reading": {
			func(c *patientConn) error { return c.SetReadDeadline(time.Now().Add(limit)) },
			func(c *patientConn, size int) error { _, err := io.ReadFull(c, make([]byte, size)); return err },
			func(peer net.Conn, size int) (int, error) { return peer.Write(make([]byte, size)) },
			1,
		},
		"writing": {
			func(c *patientConn) error { return c.SetDeadline(time.Now().Add(limit)) },
			func(c *patientConn, size int) error { _, err := c.Write(bytes.Repeat([]byte("x"), size)); return err },
			func(peer net.Conn, size int) (int, error) { return io.ReadFull(peer, make([]byte, size)) },
			chunk,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				near, peer := net.Pipe()
				c := &patientConn{Conn: near, env: env.System()}
				if err := test.set(c); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				go func() {
					for range parts {
						time.Sleep(pace)
						if _, err := test.far(peer, test.size); err != nil {
							t.Error(err)
						}
					}
				}()
				if err := test.here(c, parts*test.size); err != nil {
					t.Errorf("after %v: %v", time.Since(start), err)
				}
				if err := test.set(c); err != nil {
					t.Fatal(err)
				}
				start = time.Now()
				if err := test.here(c, 1); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got error %v, want the deadline's", err)
				}
				if took := time.Since(start); took != limit {
					t.Errorf("gave up after %v, want %v", took, limit)
				}
				if err := errors.Join(near.Close(), peer.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
