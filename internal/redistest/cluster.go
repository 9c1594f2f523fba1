package redistest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slots is how many hash slots a cluster has.
const slots = 16384

// Cluster is a Redis cluster of masters that share the slots evenly.
type Cluster struct {
	Nodes []*Server

	opts Options
}

// StartCluster starts a cluster of n masters that lives as long as the test.
func StartCluster(tb testing.TB, n int, opts Options) *Cluster {
	tb.Helper()
	c := &Cluster{opts: opts}
	opts.cluster = true
	for range n {
		opts.Dir = "" // each its own
		c.Nodes = append(c.Nodes, Start(tb, opts))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for i, node := range c.Nodes {
		if err := node.client.Do(ctx, "cluster", "addslotsrange", i*slots/n, (i+1)*slots/n-1).Err(); err != nil {
			tb.Fatalf("redis cluster: slots: %v", err)
		}
		// Each meets each: there is nothing to wait for but gossip.
		for _, other := range c.Nodes {
			if err := node.client.Do(ctx, "cluster", "meet", "127.0.0.1", other.port, other.busPort).Err(); err != nil {
				tb.Fatalf("redis cluster: meet: %v", err)
			}
		}
	}
	if err := c.Await(); err != nil {
		tb.Fatal(err)
	}
	return c
}

// URL names all nodes of the cluster.
func (c *Cluster) URL() string {
	addrs := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		addrs[i] = node.Addr()
	}
	return c.opts.url("redis+cluster", strings.Join(addrs, ","))
}

// Await returns when every node says that the cluster is whole.
func (c *Cluster) Await() error {
	return eventually("the cluster is not whole", func(ctx context.Context) error {
		for _, node := range c.Nodes {
			info, err := node.client.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			if !strings.Contains(info, "cluster_state:ok") ||
				!strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", len(c.Nodes))) {
				return fmt.Errorf("%s: %s", node.Addr(), info)
			}
		}
		return nil
	})
}

// Sentinels is a master with a replica, and sentinels that watch them.
type Sentinels struct {
	Master, Replica *Server
	Sentinels       []*Server

	opts Options
}

// masterName is what the sentinels call the master.
const masterName = "mymaster"

// StartSentinels starts a master, a replica of it and three sentinels that live
// as long as the test. A master that is silent for a second is replaced.
func StartSentinels(tb testing.TB, opts Options) *Sentinels {
	tb.Helper()
	s := &Sentinels{opts: opts}
	opts.Dir = ""
	s.Master = Start(tb, opts)
	replica := opts
	replica.Args = append([]string{"--replicaof", "127.0.0.1 " + strconv.Itoa(s.Master.port)}, opts.Args...)
	s.Replica = Start(tb, replica)
	for range 3 {
		watch := Options{TLS: opts.TLS, sentinel: true, Dir: tb.TempDir()}
		watch.Args = []string{
			"--sentinel", "monitor", masterName, "127.0.0.1", strconv.Itoa(s.Master.port), "2",
			"--sentinel", "down-after-milliseconds", masterName, "1000",
			"--sentinel", "failover-timeout", masterName, "3000",
		}
		if opts.Password != "" {
			watch.Args = append(watch.Args, "--sentinel", "auth-pass", masterName, opts.Password)
		}
		s.Sentinels = append(s.Sentinels, Start(tb, watch))
	}
	err := eventually("the sentinels do not know each other and the replica", func(ctx context.Context) error {
		for _, sentinel := range s.Sentinels {
			known, err := sentinel.client.Do(ctx, "sentinel", "master", masterName).Slice()
			if err != nil {
				return err
			}
			fields := make(map[string]string)
			for i := 0; i+1 < len(known); i += 2 {
				fields[fmt.Sprint(known[i])] = fmt.Sprint(known[i+1])
			}
			if fields["num-slaves"] != "1" || fields["num-other-sentinels"] != "2" {
				return fmt.Errorf("%s: %v", sentinel.Addr(), fields)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// URL names the sentinels and the master.
func (s *Sentinels) URL() string {
	addrs := make([]string, len(s.Sentinels))
	for i, sentinel := range s.Sentinels {
		addrs[i] = sentinel.Addr()
	}
	return s.opts.url("redis+sentinel", strings.Join(addrs, ",")+"/"+masterName)
}

// AwaitMaster returns when most sentinels name the given server as the master.
func (s *Sentinels) AwaitMaster(want *Server) error {
	return eventually("the sentinels name another master", func(ctx context.Context) error {
		agree := 0
		for _, sentinel := range s.Sentinels {
			addr, err := sentinel.client.Do(ctx, "sentinel", "get-master-addr-by-name", masterName).StringSlice()
			if err == nil && len(addr) == 2 && net.JoinHostPort(addr[0], addr[1]) == want.Addr() {
				agree++
			}
		}
		if agree*2 <= len(s.Sentinels) {
			return fmt.Errorf("%d of %d name %s", agree, len(s.Sentinels), want.Addr())
		}
		return nil
	})
}

// eventually calls check until it returns nil, for a while.
func eventually(what string, check func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return fmt.Errorf("redis: %s: %w", what, err)
		}
	}
}
