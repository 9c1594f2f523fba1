package adapter

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/env"
)

// renewal is how often at most it is looked whether the certificate was renewed.
const renewal = 10 * time.Second

// certificate is that of the listeners, as it stands in its files: one that is renewed
// there is used without a restart. It is safe for concurrent use.
type certificate struct {
	files  config.TLS
	env    env.Env
	logger *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	from    [2]stamp // of the files that current was read from
	broken  [2]stamp // of files that could not be used
	looked  time.Time
}

// stamp tells two versions of a file apart.
type stamp struct {
	size     int64
	modified time.Time
}

func newCertificate(files config.TLS, e env.Env, logger *slog.Logger) (*certificate, error) {
	c := &certificate{files: files, env: e, logger: logger, looked: e.Now()}
	c.from, _ = c.stamps()
	loaded, err := files.Certificate()
	if err != nil {
		return nil, err
	}
	c.current = &loaded
	return c, nil
}

// config is for a server.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

// get implements [tls.Config.GetCertificate]. While the files are no pair, as between
// the renewal of one and of the other, the old pair is used.
func (c *certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.env.Now(); now.Sub(c.looked) >= renewal {
		c.looked = now
		c.look(hello)
	}
	return c.current, nil
}

// look reads the files if they have changed. The lock is held.
func (c *certificate) look(hello *tls.ClientHelloInfo) {
	found, ok := c.stamps()
	if ok && found == c.from {
		return
	}
	loaded, err := c.files.Certificate()
	switch {
	case err == nil:
		c.current, c.from, c.broken = &loaded, found, [2]stamp{}
		c.logger.InfoContext(hello.Context(), "certificate renewed", "expires", loaded.Leaf.NotAfter)
	case found != c.broken:
		c.broken = found
		c.logger.WarnContext(hello.Context(), "the renewed certificate cannot be used; the old one is", "error", err)
	}
}

// stamps returns those of both files, and whether both are there.
func (c *certificate) stamps() (out [2]stamp, ok bool) {
	ok = true
	for i, name := range []string{c.files.CertFile, c.files.KeyFile} {
		info, err := os.Stat(name)
		if err != nil {
			ok = false
			continue
		}
		out[i] = stamp{info.Size(), info.ModTime()}
	}
	return out, ok
}
