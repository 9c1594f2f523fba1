package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// oldest is the first major version with all that the scripts need.
const oldest = 7

// inspect reaches every server that writes go to and says what is wrong with
// one of them. What merely puts data at risk it logs.
func (s *Store) inspect(ctx context.Context) error {
	ctx = context.WithValue(ctx, probing{}, true)
	switch client := s.client.(type) {
	case *redis.ClusterClient:
		s.reload(ctx)
		// A cluster that lacks slots is not there yet.
		if err := client.Process(ctx, once{redis.NewCmd(ctx, "get", s.keys.channel(""))}); err != nil && !errors.Is(err, redis.Nil) {
			return clusterless(err)
		}
		return client.ForEachMaster(ctx, s.inspectServer)
	case *redis.Client:
		return s.inspectServer(ctx, client)
	default:
		return fmt.Errorf("%w: no such client: %T", ErrSetup, client)
	}
}

// clusterless tells a single server behind the URL of a cluster.
func clusterless(err error) error {
	if strings.Contains(err.Error(), "cluster support disabled") {
		return fmt.Errorf("%w: the server is not part of a cluster: write redis:// or rediss://", ErrSetup)
	}
	return err
}

func (s *Store) inspectServer(ctx context.Context, client *redis.Client) error {
	text, err := client.Info(ctx).Result()
	if err != nil {
		return err
	}
	info := parseInfo(text)
	if info["loading"] == "1" {
		return errors.New("the server is loading its data")
	}
	version := info["redis_version"]
	major, _, _ := strings.Cut(version, ".")
	switch n, err := strconv.Atoi(major); {
	case err != nil:
		return fmt.Errorf("%w: the server does not tell its version", ErrSetup)
	case n < oldest:
		return fmt.Errorf("%w: Redis %s is too old: %d or later is needed", ErrSetup, version, oldest)
	case info["cluster_enabled"] == "1" && !s.cluster:
		return fmt.Errorf("%w: the server is part of a cluster: write redis+cluster:// or rediss+cluster://", ErrSetup)
	case info["role"] == "slave":
		// After a failover the address may name the old master for a while.
		return errors.New("the server is a replica, which cannot be written to")
	}
	if info["aof_enabled"] == "0" {
		s.warn(ctx, client, "redis does not keep what it acknowledges: set appendonly yes")
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		s.warn(ctx, client, "redis may throw state away when memory is short: set maxmemory-policy noeviction")
	}
	return nil
}

func (s *Store) warn(ctx context.Context, client *redis.Client, message string) {
	s.logger.LogAttrs(ctx, slog.LevelWarn, message, slog.String("server", client.Options().Addr)) //nolint:sloglint // one of two texts
}

// parseInfo reads the answer to INFO: lines of name:value.
func parseInfo(text string) map[string]string {
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// setup makes of a hopeless error one that says so.
func setup(err error) error {
	switch {
	case errors.Is(err, ErrSetup):
		return err
	case errors.Is(err, redis.Nil):
		return fmt.Errorf("%w: the sentinels know no master of this name", ErrSetup)
	default:
		return fmt.Errorf("%w: %w", ErrSetup, err)
	}
}
