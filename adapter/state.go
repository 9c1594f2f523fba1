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
)

// secretFile stands beside the embedded store and holds the secret that was
// made for it when the configuration gives none.
const secretFile = "secret"

// ErrLocked says that another process holds the store.
var ErrLocked = embedded.ErrLocked

// openState opens the store and derives the keys.
func (b *Bridge) openState(ctx context.Context) (*seal.Keys, error) {
	path, memory := b.cfg.Store.Path, b.cfg.Store.Kind == config.StoreMemory
	if memory {
		path = ""
	}
	store, err := embedded.Open(ctx, embedded.Options{Path: path, Memory: memory, Env: b.env, Logger: b.logger})
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	b.store = store
	secrets, err := b.secrets(path)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	keys, err := seal.New(secrets, b.env.Random())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("secrets: %w", err), store.Close())
	}
	return keys, nil
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
