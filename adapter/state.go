package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/adapter/state/embedded"
)

// secretFile stands beside the embedded store and holds the secret that was
// made for it when the configuration gives none.
const secretFile = "secret"

// ErrLocked says that another process holds the store.
var ErrLocked = embedded.ErrLocked

// openState opens the store, unless one is given, and derives the keys.
func (b *Bridge) openState(ctx context.Context, given state.Store) (*seal.Keys, error) {
	path, memory := b.cfg.Store.Path, b.cfg.Store.Kind == config.StoreMemory
	if memory || given != nil {
		path = ""
	}
	b.store, b.owned, b.shared = given, given == nil, given != nil
	if given == nil {
		store, err := embedded.Open(ctx, embedded.Options{Path: path, Memory: memory, Env: b.env, Logger: b.logger})
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		b.store = store
	}
	keys, err := b.keys(path)
	if err != nil && b.owned {
		err = errors.Join(err, b.store.Close())
	}
	return keys, err
}

// keys derives the keys from the secrets.
func (b *Bridge) keys(path string) (*seal.Keys, error) {
	secrets := b.cfg.Secrets
	if len(secrets) == 0 {
		secret, err := b.ownSecret(path)
		if err != nil {
			return nil, err
		}
		secrets = [][]byte{secret}
	}
	keys, err := seal.New(secrets, b.env.Random())
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	return keys, nil
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
