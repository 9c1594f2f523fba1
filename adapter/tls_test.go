package adapter_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/internal/demo"
)

// authority signs certificates for this machine.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = ecKey(t)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

func ecKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue makes a certificate and its key, both PEM.
func (a *authority) issue(serial int64) (cert, key []byte) {
	a.t.Helper()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames: []string{"localhost"},
	}
	own := ecKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &own.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// put writes files into a folder.
func put(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTLS: every listener speaks TLS of 1.2 or later, HTTP/1.1 and HTTP/2, on which all
// of the protocol works, event streams included; backends are trusted by their own
// authority.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca, dir := newAuthority(t), t.TempDir()
	cert, key := ca.issue(2)
	inner := demo.NewLegacy(demo.Options{})
	back := httptest.NewUnstartedServer(inner)
	backCert, backKey := ca.issue(3)
	pair, err := tls.X509KeyPair(backCert, backKey)
	if err != nil {
		t.Fatal(err)
	}
	back.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	back.EnableHTTP2 = true
	back.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // some do not trust it
	back.StartTLS()
	t.Cleanup(func() { inner.Close(); back.CloseClientConnections(); back.Close() })
	put(t, dir, map[string][]byte{"cert.pem": cert, "key.pem": key, "ca.pem": ca.pem})
	s := newSite(t, "tls: {cert: "+dir+"/cert.pem, key: "+dir+"/key.pem}\nadmin: {listen: \"127.0.0.1:0\"}\nbackends: {a: {url: "+back.URL+"/mcp, ca_file: "+dir+"/ca.pem}, b: {url: "+back.URL+"/mcp}}\n")
	if !strings.HasPrefix(s.base, "https://") {
		t.Fatalf("the routes are at %s", s.base)
	}
	for _, two := range []bool{false, true} {
		s.client = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: ca.pool(), MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: two,
		}}
		s.streams(map[bool]int{false: 1, true: 2}[two])
		if r := s.do(http.MethodGet, "https://"+s.admin+"/healthz", ""); r.status != http.StatusOK {
			t.Errorf("admin: %d %s", r.status, r.body)
		}
		if r := s.ask("modern", "a", "", "server/discover"); r.status != http.StatusOK || !strings.Contains(r.body, `"result"`) {
			t.Errorf("modern: %d %s", r.status, r.body)
		}
		if _, r := s.initialize("b"); !strings.Contains(r.body, "-32603") {
			t.Errorf("a backend of an authority that nobody trusts: %d %s", r.status, r.body)
		}
		s.client.CloseIdleConnections()
	}
	old := &tls.Config{RootCAs: ca.pool(), MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if conn, err := tls.Dial("tcp", strings.TrimPrefix(s.base, "https://"), old); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is spoken")
	}
}

// streams opens a session with an event stream, and hears on it that the log level was
// taken, over the given version of HTTP.
func (s *site) streams(version int) {
	s.t.Helper()
	session, r := s.initialize("a")
	if session == "" {
		s.t.Errorf("no session: %+v", r)
		return
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+"/legacy/a", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", session)
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || resp.ProtoMajor != version || !strings.HasPrefix(line, "id: ") && !strings.HasPrefix(line, "id:") {
		s.t.Errorf("HTTP/%d, want %d; %d %q, %v", resp.ProtoMajor, version, resp.StatusCode, line, err)
	}
}
