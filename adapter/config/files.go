package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Certificate loads the chain and its key.
func (t *TLS) Certificate() (tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	return cert, nil
}

// RootCAs loads CAFile. It returns nil, which means the system's authorities,
// if there is none.
func (b *Backend) RootCAs() (*x509.CertPool, error) {
	if b.CAFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(b.CAFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", b.CAFile)
	}
	return pool, nil
}

// stateDir is the user's folder for state, as the XDG base directory rules
// say; a relative name there is to be ignored.
func stateDir(env lookup) (string, error) {
	if dir, _ := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home, _ := env(name); filepath.IsAbs(home) {
			return filepath.Join(home, ".local", "state"), nil
		}
	}
	return "", errors.New("neither XDG_STATE_HOME nor HOME is set")
}
