package redisurl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/state/redis/redisurl"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]redisurl.Address{
		"redis://redis":        {Kind: redisurl.Single, Hosts: []string{"redis:6379"}},
		"redis://redis:6380/3": {Kind: redisurl.Single, Hosts: []string{"redis:6380"}, DB: 3},
		"redis://[::1]":        {Kind: redisurl.Single, Hosts: []string{"[::1]:6379"}},
		"redis://[::1]:7/":     {Kind: redisurl.Single, Hosts: []string{"[::1]:7"}},
		"redis://:p%40@q@h/1":  {Kind: redisurl.Single, Hosts: []string{"h:6379"}, Password: "p@@q", DB: 1},
		"rediss://u:p@h?ca_file=/ca.pem&cert=c&key=k&server_name=n": {
			Kind: redisurl.Single, Hosts: []string{"h:6379"}, User: "u", Password: "p", TLS: true,
			CAFile: "/ca.pem", CertFile: "c", KeyFile: "k", ServerName: "n",
		},
		"redis+cluster://a:1,b:2,c?pool_size=9&prefix=x": {
			Kind: redisurl.Cluster, Hosts: []string{"a:1", "b:2", "c:6379"}, PoolSize: 9, Prefix: "x",
		},
		"rediss+sentinel://s1,s2:7/mymaster/2?sentinel_username=su&sentinel_password=sp&dial_timeout=1s&read_timeout=2s&write_timeout=30ms": {
			Kind: redisurl.Sentinel, Hosts: []string{"s1:26379", "s2:7"}, Master: "mymaster", DB: 2, TLS: true,
			SentinelUser: "su", SentinelPassword: "sp",
			DialTimeout: time.Second, ReadTimeout: 2 * time.Second, WriteTimeout: 30 * time.Millisecond,
		},
	} {
		if want.Prefix == "" {
			want.Prefix = "taskbridge"
		}
		got, err := redisurl.Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://h":                           "want redis://",
		"redis:h":                            "want redis://",
		"redis+other://h":                    "want redis://",
		"redis://":                           "host is missing",
		"redis://:secret@":                   "host is missing",
		"redis://a,b":                        "several hosts need",
		"redis://h:0":                        "port",
		"redis://h:secret":                   "port",
		"redis://h/x":                        `database "x"`,
		"redis://h/-1":                       `database "-1"`,
		"redis+cluster://h/1":                "only database 0",
		"redis+sentinel://h":                 "name of the master",
		"redis+sentinel://h/m/x":             `database "x"`,
		"redis://:se%zzcret@h":               "password is not percent-encoded",
		"redis://:secret@h?x=1":              `unknown parameter "x"`,
		"redis://:secret@h?max_retries=3":    `unknown parameter "max_retries"`,
		"redis://:secret@h#x":                "fragment",
		"redis://h?prefix=a{b}":              "prefix: want",
		"redis://h?prefix=":                  "prefix: want",
		"redis://h?prefix=a&prefix=b":        "prefix is there twice",
		"redis://h?ca_file=x":                "write rediss",
		"rediss://h?cert=x":                  "cert and key go together",
		"redis://h?sentinel_password=secret": "need redis+sentinel",
		"redis://h?dial_timeout=5":           "dial_timeout: want a time",
		"redis://h?read_timeout=-1s":         "read_timeout: want a time",
		"redis://h?pool_size=0":              "pool_size: want",
		"redis://h?prefix=%zz":               "percent-encoded",
		"redis://:secret@h/%zz":              "what follows the host",
		"redis+sentinel://:secret@h:1,/m":    "host is missing",
		"redis+cluster://:secret@::zz":       "host",
		"redis://:secret@exa mple":           "host",
	} {
		got, err := redisurl.Parse(raw)
		switch {
		case err == nil:
			t.Errorf("%s: accepted as %+v", raw, *got)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%s: got error %q, want %q", raw, err, want)
		case strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error tells the password: %q", raw, err)
		}
	}
}

func TestStringTellsNoPassword(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"redis://user:secret@h/3":                                 "redis://h:6379/3",
		"rediss+cluster://user:secret@h:1,i:2?prefix=p":           "rediss+cluster://h:1,i:2?prefix=p",
		"redis+sentinel://:secret@h/m/1?sentinel_password=secret": "redis+sentinel://h:26379/m/1",
		"rediss://h?ca_file=x&cert=y&key=z":                       "rediss://h:6379",
	} {
		a, err := redisurl.Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := a.String(); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
		if again, err := redisurl.Parse(a.String()); err != nil || again.String() != want {
			t.Errorf("%s does not read itself: %v", want, err)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"redis://": true, "rediss+cluster://x": true, "redis+sentinel://": true, "redis:": false, "memory:": false, "redis+x://": false,
	} {
		if got := redisurl.Known(raw); got != want {
			t.Errorf("%s: got %v", raw, got)
		}
	}
}
