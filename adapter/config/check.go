package config

import (
	"cmp"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A checker looks at what no single key can say: how values fit together, and
// whether the files they name can be used.
type checker struct {
	*decoder
	root *node // everything that was said, for places
	cfg  *Config
	home source // stands for what nobody said
}

// check completes cfg and adds the problems of the whole.
func (c checker) check() {
	c.faces()
	c.admin()
	c.hosts()
	c.tls()
	c.auth()
	c.store()
	c.relations()
	if b := c.root.get("backends"); b == nil && !c.offered {
		c.add(c.home, "", "no backend: name one in the file, with --backend, or use --demo")
	} else if b != nil && b.form == formMapping && len(b.entries) == 0 && !c.offered {
		c.at([]string{"backends"}, "no backend: name one here, with --backend, or use --demo")
	}
	for i := range c.cfg.Backends {
		c.backend(&c.cfg.Backends[i])
	}
}

// at adds a problem at the first of the paths that was said by someone.
func (c checker) at(paths []string, format string, args ...any) {
	for _, p := range paths {
		if n := c.root.find(p); n != nil {
			c.add(n.src, p, format, args...)
			return
		}
	}
	c.add(c.home, paths[0], format, args...)
}

func (c checker) faces() {
	f := &c.cfg.Faces
	f.Legacy.Listen = cmp.Or(f.Legacy.Listen, c.cfg.Listen)
	f.Modern.Listen = cmp.Or(f.Modern.Listen, c.cfg.Listen)
	switch {
	case f.Legacy.Off && f.Modern.Off:
		c.at([]string{"faces.legacy.off", "faces.modern.off"}, "both faces are off; nothing is left to serve")
	}
}

func (c checker) admin() {
	a := &c.cfg.Admin
	a.Off = a.Listen == ""
	if a.Off {
		return
	}
	if a.Token == "" && !loopback(a.Listen) {
		c.at([]string{"admin.listen"}, "%s is not loopback, so admin.token is required", a.Listen)
	}
	for _, l := range c.listeners() {
		if l.addr == a.Listen && !strings.HasSuffix(a.Listen, ":0") {
			c.at([]string{"admin.listen", l.path}, "%s is also the address of a face (%s)", a.Listen, l.path)
		}
	}
}

// A listener is an address in use and the path of the key that chose it.
type listener struct{ path, addr string }

// listeners lists the addresses of the faces that are on.
func (c checker) listeners() []listener {
	var out []listener
	f := &c.cfg.Faces
	for _, face := range []struct {
		key string
		Face
	}{{"faces.legacy.listen", f.Legacy}, {"faces.modern.listen", f.Modern}} {
		switch {
		case face.Off:
		case c.root.find(face.key) != nil:
			out = append(out, listener{face.key, face.Listen})
		case !slices.Contains(out, listener{"listen", c.cfg.Listen}):
			out = append(out, listener{"listen", c.cfg.Listen})
		}
	}
	return out
}

// hosts wants the operator's own list of names for every address that the
// world can reach: the default list would make the bridge useless there, and a
// looser default would let any web page in by DNS rebinding.
func (c checker) hosts() {
	if c.root.get("allowed_hosts") != nil {
		return
	}
	all := c.listeners()
	if a := c.cfg.Admin; !a.Off {
		all = append(all, listener{"admin.listen", a.Listen})
	}
	for _, l := range all {
		if !loopback(l.addr) {
			c.at([]string{l.path}, "%s is not loopback, so allowed_hosts must list the names it is called by", l.addr)
		}
	}
}

// loopback reports whether only this machine reaches the address.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

func (c checker) tls() {
	t := c.cfg.TLS
	if t == nil || c.root.get("tls").form != formMapping {
		return
	}
	missing := false
	for _, f := range []struct{ key, val string }{{"cert", t.CertFile}, {"key", t.KeyFile}} {
		if f.val == "" && c.root.find("tls."+f.key) == nil {
			c.at([]string{"tls"}, "%s is missing", f.key)
		}
		missing = missing || f.val == ""
	}
	if missing {
		return
	}
	if _, err := t.Certificate(); err != nil {
		c.at([]string{"tls"}, "%v", err)
	}
}

// store names the default database file. Replicas that share a store must share
// what seals their handles too, and nothing of the kind can be in the store.
func (c checker) store() {
	s := &c.cfg.Store
	if s.Kind == StoreRedis && len(c.cfg.Secrets) == 0 && c.root.get("secrets") == nil {
		c.at([]string{"store"}, "redis needs secrets, the same for every replica: secrets: [\"${TASKBRIDGE_SECRET}\"]")
	}
	if s.Kind != StoreEmbedded || s.Path != "" {
		return
	}
	dir, err := stateDir(c.env)
	if err != nil {
		c.at([]string{"store"}, "%v; name a file: embedded:PATH", err)
		return
	}
	s.Path = filepath.Join(dir, "taskbridge", "taskbridge.db")
}

// relations checks pairs of values of which one bounds the other.
func (c checker) relations() {
	t, l := c.cfg.Times, c.cfg.Limits
	c.ordered("times.min_ttl", t.MinTTL, "times.max_ttl", t.MaxTTL)
	c.ordered("times.call_idle", t.CallIdle, "times.call_total", t.CallTotal)
	c.ordered("defaults.hosted_ttl", c.cfg.Defaults.HostedTTL, "times.max_ttl", t.MaxTTL)
	for _, p := range []struct {
		path string
		size int64
	}{{"limits.body", l.Body}, {"limits.result", l.Result}} {
		if p.size > l.InflightBytes {
			c.at([]string{p.path, "limits.inflight_bytes"}, "%s is more than limits.inflight_bytes allows for all messages together", p.path)
		}
	}
}

// ordered wants the time at path a to be no longer than that at path b.
func (c checker) ordered(a string, low time.Duration, b string, high time.Duration) {
	switch {
	case low <= high:
	case c.root.find(a) != nil:
		c.at([]string{a}, "%s is longer than %s (%s)", short(low), b, short(high))
	default:
		c.at([]string{b}, "%s is shorter than %s (%s)", short(high), a, short(low))
	}
}

// short renders a time as one would write it: 24h, not 24h0m0s.
func short(t time.Duration) string {
	s := t.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (c checker) backend(b *Backend) {
	path := "backends." + b.Name
	c.credentials(path, b)
	if c.root.find(path+".hosted_ttl") != nil {
		c.ordered(path+".hosted_ttl", b.HostedTTL, "times.max_ttl", c.cfg.Times.MaxTTL)
	}
	if _, err := b.RootCAs(); err != nil {
		c.at([]string{path + ".ca_file"}, "%v", err)
	}
}
