package adapter

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/internal/env"
)

// selfSigned makes a certificate of this serial number, and its key.
func selfSigned(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &own.PublicKey, own)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// TestRenewal: a certificate that is renewed on disk is used for new connections, and
// whatever is wrong with the new one, the old one is used on.
func TestRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		files := config.TLS{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
		write := func(name string, data []byte) {
			t.Helper()
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		if _, err := newCertificate(files, env.System(), logger); err == nil {
			t.Error("no error without files")
		}
		cert, key := selfSigned(t, 1)
		write(files.CertFile, cert)
		write(files.KeyFile, key)
		c, err := newCertificate(files, env.System(), logger)
		if err != nil {
			t.Fatal(err)
		}
		serves := func(want int64) {
			t.Helper()
			got, err := c.get(&tls.ClientHelloInfo{})
			if err != nil || got.Leaf.SerialNumber.Int64() != want {
				t.Errorf("serial number %v, %v; want %d", got.Leaf.SerialNumber, err, want)
			}
		}
		serves(1)
		cert, key = selfSigned(t, 2)
		write(files.CertFile, cert) // the key comes later
		serves(1)
		for range 5 {
			time.Sleep(renewal)
			serves(1)
		}
		if n := strings.Count(log.String(), "cannot be used"); n != 1 {
			t.Errorf("a broken pair was logged %d times:\n%s", n, &log)
		}
		write(files.KeyFile, key)
		serves(1)
		time.Sleep(renewal)
		serves(2)
		if err := os.Remove(files.KeyFile); err != nil {
			t.Fatal(err)
		}
		time.Sleep(renewal)
		serves(2)
		cert, key = selfSigned(t, 3)
		write(files.KeyFile, key)
		write(files.CertFile, cert)
		time.Sleep(renewal)
		serves(3)
		if strings.Contains(log.String(), "PRIVATE") {
			t.Error("the log has a key")
		}
	})
}
