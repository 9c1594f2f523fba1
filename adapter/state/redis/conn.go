package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/taskbridge/taskbridge/adapter/state/redis/redisurl"
	"github.com/taskbridge/taskbridge/internal/env"
)

// chunk is how much is written under one deadline.
const chunk = 256 << 10

// patientConn makes of a deadline for a whole command one for its next bytes: a
// value of 200 MiB may take its time, a server that is silent may not. The
// client sets a deadline before each command and each answer.
type patientConn struct {
	net.Conn
	env env.Env
	// read and write are how long to wait for the next bytes, 0 for ever. They
	// are set while others read and write, as deadlines may be.
	read, write atomic.Int64
}

func (c *patientConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *patientConn) SetReadDeadline(t time.Time) error {
	c.read.Store(c.left(t))
	return c.Conn.SetReadDeadline(t)
}

func (c *patientConn) SetWriteDeadline(t time.Time) error {
	c.write.Store(c.left(t))
	return c.Conn.SetWriteDeadline(t)
}

func (c *patientConn) left(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(int64(t.Sub(c.env.Now())), 1)
}

func (c *patientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if wait := c.read.Load(); err == nil && wait > 0 {
		err = c.Conn.SetReadDeadline(c.env.Now().Add(time.Duration(wait)))
	}
	return n, err
}

func (c *patientConn) Write(p []byte) (written int, err error) {
	for {
		part := p[written:min(written+chunk, len(p))]
		n, err := c.Conn.Write(part)
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
		if wait := c.write.Load(); wait > 0 {
			if err := c.Conn.SetWriteDeadline(c.env.Now().Add(time.Duration(wait))); err != nil {
				return written, err
			}
		}
	}
}

// dialer makes connections, TLS where the address says so.
type dialer struct {
	env     env.Env
	timeout time.Duration
	tls     *tls.Config // nil for none
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := env.WithTimeout(ctx, d.env, d.timeout, context.DeadlineExceeded)
	defer cancel()
	conn, err := (&net.Dialer{Timeout: d.timeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, &dialError{err}
	}
	patient := &patientConn{Conn: conn, env: d.env}
	if d.tls == nil {
		return patient, nil
	}
	config := d.tls
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, &dialError{errors.Join(err, conn.Close())}
		}
		config = config.Clone()
		config.ServerName = host
	}
	secure := tls.Client(patient, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("%w: does the server speak TLS?", cause)
		}
		return nil, &dialError{errors.Join(fmt.Errorf("tls: %w", err), conn.Close())}
	}
	return secure, nil
}

// tlsConfig reads the files that the address names, or returns nil without TLS.
func tlsConfig(a *redisurl.Address) (*tls.Config, error) {
	if !a.TLS {
		return nil, nil //nolint:nilnil // no TLS is no configuration
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: a.ServerName}
	if a.CAFile != "" {
		pem, err := os.ReadFile(a.CAFile)
		if err != nil {
			return nil, fmt.Errorf("%w: ca_file: %w", ErrSetup, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: ca_file %s: no certificate in it", ErrSetup, a.CAFile)
		}
	}
	if a.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(a.CertFile, a.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("%w: cert and key: %w", ErrSetup, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
