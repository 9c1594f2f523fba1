package edge_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

func TestCrowd(t *testing.T) {
	t.Parallel()
	c := &edge.Crowd{All: 4, Each: 2}
	for i, step := range []struct {
		origin string
		want   bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"", true}, {"", false}, {"c", false}} {
		if got := c.Enter(step.origin); got != step.want {
			t.Fatalf("step %d: %q enters: %v", i, step.origin, got)
		}
	}
	c.Leave("")
	if c.Enter("a") {
		t.Error("a third one of a")
	}
	if c.Leave("a"); !c.Enter("c") || !c.Enter("a") || c.Enter("b") {
		t.Error("the room that was left is not had again, or more of it")
	}
}

func TestCrowdOfTwoOrigins(t *testing.T) {
	t.Parallel()
	c := &edge.Crowd{All: 10, Each: 2}
	if !c.Enter("address", "one") || !c.Enter("address", "two") || c.Enter("address", "three") || !c.Enter("other", "three") {
		t.Error("one origin lets in what another does not")
	}
	if c.Leave("address", "one"); !c.Enter("address", "three") || c.Enter("other", "three") {
		t.Error("room is counted wrongly once one has left")
	}
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	trusted := edge.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tt := range []struct {
		name    string
		proxies edge.Proxies
		remote  string
		headers []string
		want    string
	}{
		{"the peer", nil, "192.0.2.7:1", nil, "192.0.2.7"},
		{"a header that anybody can write", nil, "192.0.2.7:1", []string{"198.51.100.1"}, "192.0.2.7"},
		{"a header of a client that is no proxy", trusted, "192.0.2.7:1", []string{"198.51.100.1"}, "192.0.2.7"},
		{"behind a proxy", trusted, "10.1.2.3:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"what a client has written before the proxy", trusted, "10.1.2.3:1", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		{"the same in headers of their own", trusted, "10.1.2.3:1", []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1"},
		{"behind two proxies", trusted, "10.1.2.3:1", []string{"203.0.113.9, 198.51.100.1, 10.9.9.9"}, "198.51.100.1"},
		{"nothing but proxies", trusted, "10.1.2.3:1", []string{"10.9.9.9"}, "10.9.9.9"},
		{"a proxy that says nothing", trusted, "10.1.2.3:1", nil, "10.1.2.3"},
		{"a proxy that says what cannot be read", trusted, "10.1.2.3:1", []string{"198.51.100.1, unknown"}, "10.1.2.3"},
		{"something unreadable of the client's", trusted, "10.1.2.3:1", []string{"<x>, 198.51.100.1"}, "198.51.100.1"},
		{"an IPv6 network", nil, "[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1:2::/64"},
		{"the same network", nil, "[2001:db8:1:2:ffff::1]:1", nil, "2001:db8:1:2::/64"},
		{"an IPv4 address in disguise", nil, "[::ffff:192.0.2.7]:1", nil, "192.0.2.7"},
		{"a proxy in disguise", trusted, "[::ffff:10.1.2.3]:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"an IPv6 proxy", trusted, "[fd00::1]:1", []string{"2001:db8::1"}, "2001:db8::/64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &http.Request{RemoteAddr: tt.remote, Header: http.Header{"X-Forwarded-For": tt.headers}}
			if got := tt.proxies.Client(r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	if got := trusted.Peer("10.1.2.3:1"); got != "" {
		t.Errorf("a proxy's connections count as those of %s", got)
	}
	if got := trusted.Peer("192.0.2.7:1"); got != "192.0.2.7" {
		t.Errorf("%q", got)
	}
}
