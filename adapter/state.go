package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
	"github.com/taskbridge/taskbridge/adapter/state/redis"
)

// secretFile stands beside the embedded store and holds the secret that was
// made for it when the configuration gives none.
const secretFile = "secret"

var (
	// ErrLocked says that another process holds the store.
	ErrLocked = embedded.ErrLocked
	// ErrStore says that the store is there and cannot be used as configured:
	// Redis refuses the bridge, or is not what the bridge needs. One that merely
	// does not answer is no reason not to start.
	ErrStore = redis.ErrSetup
)

// openState opens the store, unless one is given, and derives the keys.
func (b *Bridge) openState(ctx context.Context, given state.Store) (*seal.Keys, error) {
	path := b.cfg.Store.Path
	b.store, b.shared = given, true
	if given != nil {
		path = ""
	} else {
		store, err := b.openStore(ctx)
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		b.store, b.owned, b.shared = store, true, b.cfg.Store.Kind == config.StoreRedis
	}
	keys, err := b.keys(path)
	if err != nil && b.owned {
		err = errors.Join(err, b.store.Close())
	}
	return keys, err
}

// keys derives the keys from the secrets.
func (b *Bridge) keys(path string) (*seal.Keys, error) {
	secrets, err := b.secrets(path)
	if err != nil {
		return nil, err
	}
	keys, err := seal.New(secrets, b.env.Random())
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	return keys, nil
}

// openStore opens the store of the configured kind.
func (b *Bridge) openStore(ctx context.Context) (state.Store, error) {
	switch s := b.cfg.Store; s.Kind {
	case config.StoreRedis:
		if len(b.cfg.Secrets) == 0 {
			return nil, fmt.Errorf("%w: redis needs secrets, the same for every replica", ErrStore)
		}
		return redis.Open(ctx, redis.Options{Address: s.Redis, Env: b.env, Logger: b.logger})
	case config.StoreMemory:
		return embedded.Open(ctx, embedded.Options{Memory: true, Env: b.env, Logger: b.logger})
	default:
		return embedded.Open(ctx, embedded.Options{Path: s.Path, Env: b.env, Logger: b.logger})
	}
}

// secrets returns those that are accepted, current first: the configured ones, and behind
// them the one that the store had before any was configured, for as long as its file is
// there.
func (b *Bridge) secrets(path string) ([][]byte, error) {
	if len(b.cfg.Secrets) == 0 {
		secret, err := b.ownSecret(path)
		return [][]byte{secret}, err
	}
	if path == "" {
		return b.cfg.Secrets, nil
	}
	own, err := seal.Load(filepath.Join(filepath.Dir(path), secretFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b.cfg.Secrets, nil
	case err != nil:
		return nil, err
	default:
		return append(slices.Clone(b.cfg.Secrets), own), nil
	}
}

// ownSecret returns the secret kept beside the store, or one that lasts as long
// as a store in memory.
func (b *Bridge) ownSecret(path string) ([]byte, error) {
	if path != "" {
		return seal.LoadOrCreate(filepath.Join(filepath.Dir(path), secretFile), b.env.Random())
	}
	secret := make([]byte, seal.SecretSize)
	if _, err := io.ReadFull(b.env.Random(), secret); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	return secret, nil
}

func (b *Bridge) pingStore(ctx context.Context) error {
	if _, err := b.store.Get(ctx, "ping"); err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	return nil
}
