package seal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// LoadOrCreate returns the secret in the file, which it makes first if there is
// none: [SecretSize] bytes from random, mode 0600, on disk before it is
// returned. Missing directories are made with mode 0700. Processes that race for
// it end with the same secret. A file that others may read, or of another size,
// is an error.
func LoadOrCreate(path string, random io.Reader) ([]byte, error) {
	secret, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := create(path, random); err != nil {
		return nil, fmt.Errorf("make the secret: %w", err)
	}
	return Load(path)
}

// Load returns the secret in a file that [LoadOrCreate] has made. The error is
// [fs.ErrNotExist] where there is none.
func Load(path string) (secret []byte, err error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the secret: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("secret %s: not a file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows": // which has no such bits
		return nil, fmt.Errorf("secret %s: others may read it (mode %04o); want 0600", path, info.Mode().Perm())
	case info.Size() != SecretSize:
		return nil, fmt.Errorf("secret %s: want %d bytes, found %d", path, SecretSize, info.Size())
	}
	secret = make([]byte, SecretSize)
	if _, err := io.ReadFull(file, secret); err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	return secret, nil
}

// create writes the secret under another name and links it into place, so that
// nobody ever sees a part of it, and the first of several processes wins. That
// another one was first is no error.
func create(path string, random io.Reader) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".secret-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(temp.Name())) }()
	_, err = io.CopyN(temp, random, SecretSize)
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// The winner may not have come here yet, so the others do it as well: a
	// token sealed with a secret that a crash takes away would never open again.
	return syncDir(dir)
}

// syncDir makes the new name durable, where the system has that.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
