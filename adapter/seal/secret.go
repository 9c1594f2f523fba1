package seal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// LoadOrCreate returns the secret in the file, which it makes first if there is
// none: [SecretSize] random bytes, mode 0600. Processes that race for it end
// with the same secret. A file that others may read, or of another size, is an
// error.
func LoadOrCreate(path string) ([]byte, error) {
	secret, err := load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := create(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the secret: %w", err)
	}
	return load(path)
}

func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("secret %s: others may read it (mode %04o); want 0600", path, info.Mode().Perm())
	}
	secret, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	if len(secret) != SecretSize {
		return nil, fmt.Errorf("secret %s: want %d bytes, found %d", path, SecretSize, len(secret))
	}
	return secret, nil
}

// create writes the secret under another name and links it into place, so that
// nobody ever sees a part of it, and the first of several processes wins.
func create(path string) (err error) {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".secret-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(temp.Name())) }()
	_, err = io.CopyN(temp, rand.Reader, SecretSize)
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the new name durable.
func syncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
