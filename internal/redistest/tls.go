package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificates are files of an authority made for one test, and of a server at
// 127.0.0.1 and a client that it vouches for.
type Certificates struct {
	CA, ServerCert, ServerKey, ClientCert, ClientKey string

	client *tls.Config
}

// NewCertificates makes certificates that are good for an hour.
func NewCertificates(tb testing.TB) *Certificates {
	tb.Helper()
	dir := tb.TempDir()
	authority := newKey(tb)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	c := &Certificates{CA: filepath.Join(dir, "ca.pem")}
	rootDER := sign(tb, root, root, authority, authority)
	writePEM(tb, c.CA, "CERTIFICATE", rootDER)
	issue := func(name string, serial int64) (cert, key string) {
		cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
		own := newKey(tb)
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"redis.test"},
		}
		writePEM(tb, cert, "CERTIFICATE", sign(tb, leaf, root, own, authority))
		der, err := x509.MarshalPKCS8PrivateKey(own)
		if err != nil {
			tb.Fatal(err)
		}
		writePEM(tb, key, "PRIVATE KEY", der)
		return cert, key
	}
	c.ServerCert, c.ServerKey = issue("server", 2)
	c.ClientCert, c.ClientKey = issue("client", 3)
	pair, err := tls.LoadX509KeyPair(c.ClientCert, c.ClientKey)
	if err != nil {
		tb.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(rootDER)
	if err != nil {
		tb.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	c.client = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{pair}}
	return c
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func sign(tb testing.TB, cert, parent *x509.Certificate, key, by *ecdsa.PrivateKey) []byte {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, by)
	if err != nil {
		tb.Fatal(err)
	}
	return der
}

func writePEM(tb testing.TB, path, kind string, der []byte) {
	tb.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		tb.Fatal(err)
	}
}
