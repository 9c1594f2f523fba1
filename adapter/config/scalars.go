package config

import (
	"errors"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/net/http/httpguts"

	"github.com/taskbridge/taskbridge/adapter/state/redis/redisurl"
)

// minSecret is the least length of a sealing secret in bytes.
const minSecret = 16

var backendName = regexp.MustCompile(`^` + namePattern + `$`)

// namePattern is what a backend may be called.
const namePattern = `[a-z0-9][a-z0-9-]*`

var text = scalar[string]{
	want:  "text",
	parse: func(s, _ string) (string, error) { return s, orShape(s != "") },
	desc:  jsonSchema{"type": "string", "minLength": 1},
}

var secretText = scalar[string]{
	want: "text", parse: text.parse, desc: text.desc, hidden: true,
}

var sealSecret = scalar[[]byte]{
	want: "a secret of at least 16 bytes",
	parse: func(s, _ string) ([]byte, error) {
		return []byte(s), orShape(len(s) >= minSecret)
	},
	desc:   jsonSchema{"type": "string", "minLength": minSecret},
	hidden: true,
}

var fileName = scalar[string]{
	want: "a file name",
	parse: func(s, dir string) (string, error) {
		return inDir(s, dir), orShape(s != "")
	},
	desc: text.desc,
}

var network = scalar[netip.Prefix]{
	want: "an address or a network such as 10.0.0.0/8",
	parse: func(s, _ string) (netip.Prefix, error) {
		if addr, err := netip.ParseAddr(s); err == nil {
			addr = addr.Unmap()
			return netip.PrefixFrom(addr, addr.BitLen()), orShape(addr.Zone() == "")
		}
		net, err := netip.ParsePrefix(s)
		return net.Masked(), orShape(err == nil && !net.Addr().Is4In6())
	},
	desc: text.desc,
}

var boolean = scalar[bool]{
	want: "true or false",
	parse: func(s, _ string) (bool, error) {
		return s == "true", orShape(s == "true" || s == "false")
	},
	desc: jsonSchema{"type": "boolean"},
}

var size = scalar[int64]{
	want: "a size above zero such as 512KiB, 4MiB or 1GiB",
	parse: func(s, _ string) (int64, error) {
		n, err := humanize.ParseBytes(s)
		if err != nil || n == 0 || n > math.MaxInt64 {
			return 0, errShape
		}
		return int64(n), nil
	},
	desc: jsonSchema{"anyOf": []jsonSchema{
		{"type": "integer", "minimum": 1},
		{"type": "string", "pattern": `^[0-9][0-9.,]* *([kKmMgGtTpPeE][iI]?)?[bB]?$`},
	}},
}

var address = scalar[string]{
	want:  "host:port such as 127.0.0.1:8720 or [::1]:8720",
	parse: func(s, _ string) (string, error) { return s, orShape(isAddress(s)) },
	desc:  jsonSchema{"type": "string", "pattern": `:[0-9]+$`},
}

// adminAddress is empty for off.
var adminAddress = scalar[string]{
	want: "host:port or off",
	parse: func(s, _ string) (string, error) {
		if s == "off" {
			return "", nil
		}
		return s, orShape(isAddress(s))
	},
	desc: jsonSchema{"type": "string", "pattern": `^off$|:[0-9]+$`},
}

var hostName = scalar[string]{
	want: "a host name or address without a port, such as bridge.example or [::1]",
	parse: func(s, _ string) (string, error) {
		s = strings.ToLower(s)
		bare := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
		if ip := net.ParseIP(bare); ip != nil && strings.Contains(bare, ":") {
			return "[" + bare + "]", nil
		}
		return s, orShape(hostPattern.MatchString(s))
	},
	desc: text.desc,
}

var hostPattern = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$`)

var origin = scalar[string]{
	want: "an origin such as https://app.example or http://localhost:3000",
	parse: func(s, _ string) (string, error) {
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Hostname() == "" || u.User != nil {
			return "", errShape
		}
		s = strings.ToLower(s)
		return s, orShape(s == u.Scheme+"://"+strings.ToLower(u.Host))
	},
	desc: jsonSchema{"type": "string", "pattern": `^[A-Za-z][A-Za-z0-9+.-]*://[^/?#@]+$`},
}

var endpoint = scalar[*url.URL]{
	want: "an http or https URL with a host and without user or fragment",
	parse: func(s, _ string) (*url.URL, error) {
		u, err := url.Parse(s)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
			return nil, errShape
		}
		if u.User != nil || strings.Contains(s, "#") {
			return nil, errShape
		}
		return u, orShape(u.Port() == "" || isPort(u.Port()))
	},
	desc: jsonSchema{"type": "string", "pattern": `^[hH][tT][tT][pP][sS]?://[^/?#@]+([/?][^#]*)?$`},
}

// publicURL is an endpoint that paths are put behind.
var publicURL = scalar[*url.URL]{
	want: "an http or https URL such as https://bridge.example, without user, query or fragment, and with a plain path if any",
	parse: func(s, dir string) (*url.URL, error) {
		u, err := endpoint.parse(s, dir)
		if err != nil || u.RawQuery != "" || u.ForceQuery {
			return nil, errShape
		}
		u.Path = strings.TrimRight(u.Path, "/")
		u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
		return u, orShape(u.Path == "" || publicPath.MatchString(u.EscapedPath()))
	},
	desc: jsonSchema{"type": "string", "pattern": `^[hH][tT][tT][pP][sS]?://[^/?#@]+(/[A-Za-z0-9._~/-]*)?$`},
}

// publicPath is a path that means the same to every router.
var publicPath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// serverURL is the issuer of an authorization server, kept as it is written:
// clients compare it byte for byte (RFC 8414 §3.3).
var serverURL = scalar[string]{
	want: "an http or https URL with a host and without user, query or fragment",
	parse: func(s, dir string) (string, error) {
		u, err := endpoint.parse(s, dir)
		return s, orShape(err == nil && u.RawQuery == "" && !u.ForceQuery)
	},
	desc: jsonSchema{"type": "string", "pattern": `^[hH][tT][tT][pP][sS]?://[^/?#@]+(/[^?#]*)?$`},
}

var storeURL = scalar[Store]{
	want: "embedded:, embedded:PATH, memory: or redis://...",
	parse: func(s, dir string) (Store, error) {
		kind, rest, ok := strings.Cut(s, ":")
		switch {
		case ok && kind == "embedded" && rest == "":
			return Store{Kind: StoreEmbedded}, nil
		case ok && kind == "embedded":
			return Store{Kind: StoreEmbedded, Path: inDir(rest, dir)}, nil
		case s == "memory:":
			return Store{Kind: StoreMemory}, nil
		case redisurl.Known(s):
			return redisStore(s, dir)
		}
		return Store{}, errShape
	},
	desc: jsonSchema{"type": "string", "pattern": `^(embedded:.*|memory:|rediss?([+](cluster|sentinel))?://.+)$`},
}

// redisStore reads the URL of a store shared by replicas. Files it names are
// beside the configuration, like all others.
func redisStore(s, dir string) (Store, error) {
	a, err := redisurl.Parse(s)
	if err != nil {
		return Store{}, err
	}
	for _, file := range []*string{&a.CAFile, &a.CertFile, &a.KeyFile} {
		*file = inDir(*file, dir)
	}
	return Store{Kind: StoreRedis, Redis: a}, nil
}

var headerName = scalar[string]{
	want: "the name of an HTTP header",
	parse: func(s, _ string) (string, error) {
		name := http.CanonicalHeaderKey(s)
		if !httpguts.ValidHeaderFieldName(s) {
			return "", errShape
		}
		if slices.Contains(ownHeaders, name) || strings.HasPrefix(name, "Mcp-") {
			return "", errors.New("this header is set by the bridge itself")
		}
		return name, nil
	},
	desc: jsonSchema{"type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
}

// ownHeaders are those that a request could not be sent without.
var ownHeaders = []string{
	"Accept", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Last-Event-Id", "Transfer-Encoding",
}

var headerValue = scalar[string]{
	want: "the value of an HTTP header",
	parse: func(s, _ string) (string, error) {
		return s, orShape(s != "" && httpguts.ValidHeaderFieldValue(s))
	},
	desc: text.desc, hidden: true, envOnly: true,
}

// duration is a time of at least the given one.
func duration(least time.Duration) scalar[time.Duration] {
	want := "a time such as 400ms, 5m or 24h"
	if least > 0 {
		want += ", at least " + short(least)
	}
	return scalar[time.Duration]{
		want: want,
		parse: func(s, _ string) (time.Duration, error) {
			t, err := time.ParseDuration(s)
			return t, orShape(err == nil && t >= least)
		},
		desc: jsonSchema{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`},
	}
}

// count is a whole number between two others.
func count(least, most int) scalar[int] {
	return scalar[int]{
		want: "a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most),
		parse: func(s, _ string) (int, error) {
			n, err := strconv.Atoi(s)
			return n, orShape(err == nil && n >= least && n <= most)
		},
		desc: jsonSchema{"type": "integer", "minimum": least, "maximum": most},
	}
}

// choice is one of the given words.
func choice[V ~string](options ...V) scalar[V] {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = string(o)
	}
	return scalar[V]{
		want: listing(names),
		parse: func(s, _ string) (V, error) {
			return V(s), orShape(slices.Contains(names, s))
		},
		desc: jsonSchema{"type": "string", "enum": names},
	}
}

// listing renders "a, b or c".
func listing(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// orShape returns errShape unless ok.
func orShape(ok bool) error {
	if ok {
		return nil
	}
	return errShape
}

// inDir resolves a relative file name against the folder it was written in.
func inDir(name, dir string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || !isPort(port) {
		return false
	}
	return host == "" || net.ParseIP(strings.SplitN(host, "%", 2)[0]) != nil || hostPattern.MatchString(strings.ToLower(host))
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}
