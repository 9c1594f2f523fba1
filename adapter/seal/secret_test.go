package seal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
)

func TestLoadOrCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "dir", "secret")
	secret, err := seal.LoadOrCreate(path, strings.NewReader("exactly thirty-two random bytes!"))
	if err != nil {
		t.Fatal(err)
	}
	if string(secret) != "exactly thirty-two random bytes!" {
		t.Errorf("got secret %q", secret)
	}
	again, err := seal.LoadOrCreate(path, iotest.ErrReader(errors.New("not needed")))
	if err != nil || !bytes.Equal(again, secret) {
		t.Errorf("second time: got %q and error %v", again, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: got mode %v and error %v, want %v", filepath.Base(name), info.Mode(), err, want)
		}
	}
}

func TestRacersEndWithTheSameSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	secrets := make([][]byte, 16)
	var start, wg sync.WaitGroup
	start.Add(1)
	for i := range secrets {
		wg.Go(func() {
			start.Wait()
			var err error
			if secrets[i], err = seal.LoadOrCreate(path, env.System().Random()); err != nil {
				t.Error(err)
			}
		})
	}
	start.Done()
	wg.Wait()
	for i, secret := range secrets {
		if len(secret) != seal.SecretSize || !bytes.Equal(secret, secrets[0]) {
			t.Errorf("racer %d has another secret", i)
		}
	}
	wantFiles(t, filepath.Dir(path), "secret")
}

func TestLoadRefusesBadFiles(t *testing.T) {
	t.Parallel()
	good := bytes.Repeat([]byte("x"), seal.SecretSize)
	for name, file := range map[string]struct {
		content []byte
		mode    os.FileMode
	}{
		"group may read":   {good, 0o640},
		"others may read":  {good, 0o604},
		"others may write": {good, 0o602},
		"empty":            {nil, 0o600},
		"short":            {good[1:], 0o600},
		"long":             {append(bytes.Clone(good), 'x'), 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && file.mode != 0o600 {
				t.Skip("no permission bits")
			}
			path := filepath.Join(t.TempDir(), "secret")
			if err := os.WriteFile(path, file.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, file.mode); err != nil {
				t.Fatal(err)
			}
			secret, err := seal.LoadOrCreate(path, env.System().Random())
			if err == nil || secret != nil {
				t.Fatalf("got %q and error %v", secret, err)
			}
			if strings.Contains(err.Error(), "xxx") {
				t.Errorf("the error shows the secret: %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, file.content) {
				t.Errorf("the file has changed: %q, error %v", after, err)
			}
		})
	}
	t.Run("a directory", func(t *testing.T) {
		t.Parallel()
		if _, err := seal.LoadOrCreate(t.TempDir(), env.System().Random()); err == nil {
			t.Error("no error")
		}
	})
}

func TestAFailedCreationLeavesNothing(t *testing.T) {
	t.Parallel()
	failure := errors.New("out of entropy")
	path := filepath.Join(t.TempDir(), "secret")
	if _, err := seal.LoadOrCreate(path, iotest.ErrReader(failure)); !errors.Is(err, failure) {
		t.Errorf("got error %v, want %v", err, failure)
	}
	wantFiles(t, filepath.Dir(path))
}

// wantFiles expects exactly these names in the directory.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("files %q, want %q", got, want)
	}
}
