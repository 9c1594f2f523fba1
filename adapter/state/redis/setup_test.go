//go:build interop

package redis_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/redis"
	"github.com/taskbridge/taskbridge/internal/redistest"
)

// refuses expects Open to say what is wrong, and not to say the password.
func refuses(t *testing.T, url, want string) {
	t.Helper()
	store, err := redis.Open(t.Context(), redis.Options{Address: parse(t, url)})
	if err == nil {
		must(t, store.Close())
		t.Fatalf("the store was opened; want an error that says %q", want)
	}
	if !errors.Is(err, redis.ErrSetup) || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %v that says %q", err, redis.ErrSetup, want)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells the password: %v", err)
	}
}

func TestRefusesWhatCannotBeRight(t *testing.T) {
	t.Parallel()
	t.Run("passwords", func(t *testing.T) {
		t.Parallel()
		url := redistest.Start(t, redistest.Options{Password: "right"}).URL()
		refuses(t, strings.Replace(url, "right", "secret", 1), "WRONGPASS")
		refuses(t, strings.Replace(url, ":right@", "", 1), "NOAUTH")
		refuses(t, url+"99", "DB index")
		must(t, open(t, url).Close())
	})
	t.Run("certificates", func(t *testing.T) {
		t.Parallel()
		certs := redistest.NewCertificates(t)
		url := redistest.Start(t, redistest.Options{TLS: certs}).URL()
		must(t, open(t, url).Close())
		must(t, open(t, url+"&server_name=redis.test").Close())
		refuses(t, strings.Replace(url, certs.CA, redistest.NewCertificates(t).CA, 1), "certificate")
		refuses(t, url+"&server_name=elsewhere.test", "elsewhere.test")
		refuses(t, strings.Replace(url, certs.CA, certs.CA+".gone", 1), "ca_file")
		refuses(t, strings.Replace(url, certs.CA, certs.ClientKey, 1), "no certificate in it")
		refuses(t, strings.Replace(url, certs.ClientKey, certs.ServerKey, 1), "cert and key")
		refuses(t, url[:strings.Index(url, "&cert")], "certificate required")
	})
	t.Run("kinds", func(t *testing.T) {
		t.Parallel()
		single := redistest.Start(t, redistest.Options{})
		refuses(t, strings.Replace(single.URL(), "redis:", "redis+cluster:", 1), "write redis://")
		cluster := redistest.StartCluster(t, 3, redistest.Options{})
		refuses(t, cluster.Nodes[0].URL(), "write redis+cluster://")
		s := redistest.StartSentinels(t, redistest.Options{Password: "secret"})
		refuses(t, strings.Replace(s.URL(), "mymaster", "theirs", 1), "no master of this name")
		refuses(t, strings.Replace(s.URL(), ":secret@", "", 1), "NOAUTH")
	})
}

func TestWarnsOfSettings(t *testing.T) {
	t.Parallel()
	logged := func(options redistest.Options) string {
		var log safeBuffer
		url := redistest.Start(t, options).URL()
		store, err := redis.Open(t.Context(), redis.Options{Address: parse(t, url), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		must(t, err)
		must(t, store.Close())
		return log.String()
	}
	if text := logged(redistest.Options{Fsync: "always"}); text != "" {
		t.Errorf("nothing is wrong, and yet: %s", text)
	}
	text := logged(redistest.Options{Args: []string{"--maxmemory", "10mb", "--maxmemory-policy", "allkeys-lru"}})
	for _, want := range []string{"appendonly yes", "maxmemory-policy noeviction"} {
		if !strings.Contains(text, want) {
			t.Errorf("no word of %s: %s", want, text)
		}
	}
}

// TestNeighbours is about several gateways on one Redis.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t, redistest.Options{}).URL()
	one := closing(t, open(t, url))
	for name, other := range map[string]string{"prefix": with(url, "prefix=other"), "database": url + "1"} {
		two := closing(t, open(t, other))
		put(t, one, state.Record{Key: "k", Owner: "o"})
		sub := subscribe(t, two, "t")
		must(t, one.Publish(t.Context(), "t", []byte("x")))
		must(t, two.Publish(t.Context(), "t", []byte("mine")))
		if event := <-sub.Events(); string(event.Payload) != "mine" {
			t.Errorf("another %s: got %q", name, event.Payload)
		}
		if _, err := two.Get(t.Context(), "k"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("another %s: got error %v", name, err)
		}
		lease, err := one.Acquire(t.Context(), "l", "me", 1e9)
		must(t, err)
		theirs, err := two.Acquire(t.Context(), "l", "me", 1e9)
		must(t, err)
		must(t, errors.Join(lease.Release(t.Context()), theirs.Release(t.Context())))
	}
	same := closing(t, open(t, url))
	if _, err := same.Get(t.Context(), "k"); err != nil {
		t.Errorf("another replica: %v", err)
	}
}

// TestRights is about the user that docs/operations.md tells to make: it is
// enough, and less is told at once where that can be.
func TestRights(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{Args: strings.Fields(
		"--user bridge on >secret ~taskbridge:* &taskbridge:* +@all -@dangerous +info " +
			"--user blind on >secret ~taskbridge:* &taskbridge:* +@all -@dangerous",
	)})
	store := closing(t, open(t, "redis://bridge:secret@"+server.Addr()))
	for name, call := range everyCall(t.Context(), store) {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	delivers(t, store, subscribe(t, store, "t"), "t", "x")
	refuses(t, "redis://blind:secret@"+server.Addr(), "NOPERM")
	other := closing(t, open(t, "redis://bridge:secret@"+server.Addr()+"?prefix=other"))
	if _, err := other.Put(t.Context(), state.Record{Key: "k"}, state.Always); err == nil || errors.Is(err, redis.ErrUncertain) {
		t.Errorf("a key of another prefix: got error %v, want a certain one", err)
	}
}
