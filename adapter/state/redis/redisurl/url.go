package redisurl

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is how the servers behind a URL belong together.
type Kind string

// The kinds of installation.
const (
	Single   Kind = "single"   // one server, or an address that stands for one
	Cluster  Kind = "cluster"  // Redis Cluster; the hosts are some of its nodes
	Sentinel Kind = "sentinel" // a master that the hosts, sentinels, know
)

// Address is what a URL says. A time that is 0 was not said.
type Address struct {
	Kind Kind
	// Hosts are host:port pairs, at least one; of sentinels for [Sentinel].
	Hosts []string
	// Master is the name that sentinels know the master by, for [Sentinel].
	Master string
	// DB is the number of the database; clusters have only 0.
	DB int
	// User and Password are for data nodes; either may be empty.
	User, Password string

	// TLS says whether connections are TLS. The fields below need it.
	TLS bool
	// CAFile holds the PEM certificates to trust instead of the system's
	// (ca_file). CertFile and KeyFile are the client's own (cert, key).
	CAFile, CertFile, KeyFile string
	// ServerName is the name that certificates must be for, instead of the
	// host that was dialled (server_name).
	ServerName string

	// SentinelUser and SentinelPassword are for the sentinels
	// (sentinel_username, sentinel_password).
	SentinelUser, SentinelPassword string

	// Prefix begins every key and channel (prefix). Gateways with different
	// prefixes share one Redis without seeing each other. Never empty.
	Prefix string
	// DialTimeout bounds the making of a connection (dial_timeout).
	DialTimeout time.Duration
	// ReadTimeout and WriteTimeout bound how long nothing at all is read, or
	// written, while something should be (read_timeout, write_timeout).
	ReadTimeout, WriteTimeout time.Duration
	// PoolSize is the number of connections to each server, 0 for the default
	// (pool_size).
	PoolSize int
}

const (
	defaultPort         = "6379"
	defaultSentinelPort = "26379"
	defaultPrefix       = "taskbridge"
)

var (
	prefixPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)
	schemePattern = regexp.MustCompile(`^(rediss?)(?:\+(cluster|sentinel))?$`)
)

// Known reports whether the scheme of a URL is one of this package's.
func Known(raw string) bool {
	scheme, _, ok := strings.Cut(raw, "://")
	return ok && schemePattern.MatchString(scheme)
}

// Parse reads a URL. Errors quote no more of it than the offending part.
func Parse(raw string) (*Address, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	parts := schemePattern.FindStringSubmatch(scheme)
	if !ok || parts == nil {
		return nil, errors.New("want redis://, redis+cluster:// or redis+sentinel://, or the same with rediss for TLS")
	}
	a := &Address{Kind: Single, TLS: parts[1] == "rediss"}
	if parts[2] != "" {
		a.Kind = Kind(parts[2])
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if err := a.userinfo(authority[:i]); err != nil {
			return nil, err
		}
		authority = authority[i+1:]
	}
	if err := a.hosts(authority); err != nil {
		return nil, err
	}
	u, err := url.Parse(tail)
	if err != nil {
		return nil, errors.New("what follows the host is not a path and a query")
	}
	if u.Fragment != "" {
		return nil, errors.New("a fragment means nothing here; write # in a password as %23")
	}
	if err := a.path(u.Path); err != nil {
		return nil, err
	}
	return a, a.query(u.RawQuery)
}

func (a *Address) userinfo(text string) (err error) {
	user, password, _ := strings.Cut(text, ":")
	if a.User, err = url.PathUnescape(user); err != nil {
		return errors.New("the user name is not percent-encoded properly")
	}
	if a.Password, err = url.PathUnescape(password); err != nil {
		return errors.New("the password is not percent-encoded properly")
	}
	return nil
}

func (a *Address) hosts(text string) error {
	port := defaultPort
	if a.Kind == Sentinel {
		port = defaultSentinelPort
	}
	for one := range strings.SplitSeq(text, ",") {
		host, p, err := net.SplitHostPort(one)
		if err != nil {
			host, p = strings.TrimSuffix(strings.TrimPrefix(one, "["), "]"), port
		}
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return errors.New("the port of a host is not a number from 1 to 65535")
		}
		if host == "" || (strings.Contains(host, ":") && net.ParseIP(host) == nil) || strings.ContainsAny(host, " []%") {
			return errors.New("the host is missing, or is none")
		}
		a.Hosts = append(a.Hosts, net.JoinHostPort(host, p))
	}
	if a.Kind == Single && len(a.Hosts) > 1 {
		return errors.New("several hosts need redis+cluster:// or redis+sentinel://")
	}
	return nil
}

// path reads /db, or /master and /master/db for sentinels.
func (a *Address) path(path string) error {
	path = strings.Trim(path, "/")
	if a.Kind == Sentinel {
		a.Master, path, _ = strings.Cut(path, "/")
		if a.Master == "" {
			return errors.New("the name of the master is missing: redis+sentinel://host:port/MASTER")
		}
	}
	if path == "" {
		return nil
	}
	db, err := strconv.Atoi(path)
	switch {
	case err != nil || db < 0:
		return fmt.Errorf("the database %q is not a number", path)
	case a.Kind == Cluster && db != 0:
		return errors.New("a cluster has only database 0")
	}
	a.DB = db
	return nil
}

func (a *Address) query(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("the query is not percent-encoded properly")
	}
	a.Prefix = defaultPrefix
	texts := map[string]*string{
		"prefix": &a.Prefix, "ca_file": &a.CAFile, "cert": &a.CertFile, "key": &a.KeyFile, "server_name": &a.ServerName,
		"sentinel_username": &a.SentinelUser, "sentinel_password": &a.SentinelPassword,
	}
	times := map[string]*time.Duration{
		"dial_timeout": &a.DialTimeout, "read_timeout": &a.ReadTimeout, "write_timeout": &a.WriteTimeout,
	}
	for _, name := range sortedNames(query) {
		values := query[name]
		if len(values) != 1 {
			return fmt.Errorf("%s is there twice", name)
		}
		value := values[0]
		switch {
		case texts[name] != nil:
			*texts[name] = value
		case times[name] != nil:
			t, err := time.ParseDuration(value)
			if err != nil || t < time.Millisecond {
				return fmt.Errorf("%s: want a time such as 500ms or 2s", name)
			}
			*times[name] = t
		case name == "pool_size":
			if a.PoolSize, err = strconv.Atoi(value); err != nil || a.PoolSize < 1 || a.PoolSize > 10000 {
				return errors.New("pool_size: want a number from 1 to 10000")
			}
		default:
			return fmt.Errorf("unknown parameter %q", name)
		}
	}
	return a.check()
}

// check looks at how the parameters fit together.
func (a *Address) check() error {
	switch {
	case !prefixPattern.MatchString(a.Prefix):
		return errors.New("prefix: want 1 to 64 letters, digits, dots, colons, dashes or underscores")
	case !a.TLS && (a.CAFile != "" || a.CertFile != "" || a.KeyFile != "" || a.ServerName != ""):
		return errors.New("ca_file, cert, key and server_name need TLS: write rediss")
	case (a.CertFile == "") != (a.KeyFile == ""):
		return errors.New("cert and key go together")
	case a.Kind != Sentinel && (a.SentinelUser != "" || a.SentinelPassword != ""):
		return errors.New("sentinel_username and sentinel_password need redis+sentinel://")
	}
	return nil
}

func sortedNames(query url.Values) []string {
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String is the address without user names and passwords, for logs.
func (a *Address) String() string {
	scheme := "redis"
	if a.TLS {
		scheme = "rediss"
	}
	if a.Kind != Single {
		scheme += "+" + string(a.Kind)
	}
	text := scheme + "://" + strings.Join(a.Hosts, ",")
	if a.Master != "" {
		text += "/" + url.PathEscape(a.Master)
	}
	if a.DB != 0 {
		text += "/" + strconv.Itoa(a.DB)
	}
	if a.Prefix != defaultPrefix {
		text += "?prefix=" + a.Prefix
	}
	return text
}
