package redis

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts by it
	_ "embed"
	"encoding/hex"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/internal/env"
)

var (
	//go:embed prelude.lua
	prelude string
	//go:embed put.lua
	putText string
	//go:embed delete.lua
	deleteText string
	//go:embed claim.lua
	claimText string
	//go:embed places.lua
	placesText string
	//go:embed drop.lua
	dropText string
	//go:embed acquire.lua
	acquireText string
	//go:embed renew.lua
	renewText string
)

var (
	putScript     = newScript(putText)
	deleteScript  = newScript(deleteText)
	claimScript   = newScript(claimText)
	placesScript  = newScript(placesText)
	dropScript    = newScript(dropText)
	acquireScript = newScript(acquireText)
	renewScript   = newScript(renewText)
)

// script is a script and the name that Redis has for it.
type script struct{ text, sum string }

func newScript(text string) *script {
	text = prelude + text
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return &script{text: text, sum: hex.EncodeToString(sum[:])}
}

// once is a command that the client must not send again after a failure: the
// server may have carried it out.
type once struct{ *redis.Cmd }

// NoRetry tells the client.
func (once) NoRetry() bool { return true }

const (
	// tries bounds how often a script is sent to servers that have refused it
	// without carrying it out, because a slot is moving or a master changing.
	tries = 6
	pause = 25 * time.Millisecond
)

// run runs a script and returns its answer. It is sent again only after an
// answer that proves that nothing was done.
func (s *Store) run(ctx context.Context, sc *script, keys []string, args ...any) (any, error) {
	byName := sc.command(ctx, "evalsha", sc.sum, keys, args)
	for try := 1; ; try++ {
		cmd := byName
		err := s.do(ctx, cmd)
		if replies(err, "NOSCRIPT ") {
			cmd = sc.command(ctx, "eval", sc.text, keys, args)
			err = s.do(ctx, cmd)
		}
		if err == nil {
			return cmd.Val(), nil
		}
		if try == tries || !replies(err, "TRYAGAIN ", "READONLY ") {
			return nil, err
		}
		s.reload(ctx)
		if env.Sleep(ctx, s.env, pause) != nil {
			return nil, err
		}
		byName = sc.command(ctx, "evalsha", sc.sum, keys, args)
	}
}

// do sends a command once.
func (s *Store) do(ctx context.Context, cmd *redis.Cmd) error {
	if s.cluster {
		return s.client.Process(ctx, once{cmd})
	}
	return s.batcher.do(ctx, cmd)
}

func (sc *script) command(ctx context.Context, name, text string, keys []string, args []any) *redis.Cmd {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, name, text, len(keys))
	for _, key := range keys {
		all = append(all, key)
	}
	return redis.NewCmd(ctx, append(all, args...)...)
}
