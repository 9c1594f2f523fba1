package adapter_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// certified writes a certificate that nobody vouches for, and returns the settings that
// have the bridge use it.
func certified(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	cert, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	settings := make([]string, 0, 2)
	for _, file := range []struct {
		name  string
		block *pem.Block
	}{{"cert", &pem.Block{Type: "CERTIFICATE", Bytes: cert}}, {"key", &pem.Block{Type: "PRIVATE KEY", Bytes: der}}} {
		path := filepath.Join(dir, file.name)
		if err := os.WriteFile(path, pem.EncodeToMemory(file.block), 0o600); err != nil {
			t.Fatal(err)
		}
		settings = append(settings, "tls."+file.name+"="+path)
	}
	return settings
}

// secure is a client of HTTP/2 with a connection of its own.
func (c *eraCell) secure() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: c.front.Dial, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
}

// modernCall is a request of the modern face for a tool of the unruly server.
func modernCall(t *testing.T, more, path string) *http.Request {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{%s{}},"name":"t","arguments":{}%s}}`, recentMeta, more)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"t"},
	}
	return r
}

// TestLimitsOverHTTP2: the limits hold over HTTP/2 as they do over HTTP/1.
func TestLimitsOverHTTP2(t *testing.T) {
	server := &unruly{recent: true, answer: func(w http.ResponseWriter, _ *http.Request, id wire.Value) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[],"x":"%s"}}`, id, strings.Repeat("x", 10<<20))
	}}
	tls := certified(t)
	cellOf(t, server, func(c *eraCell) {
		c.set = append(tls, "limits.connections=2", "limits.body=1MiB", "times.call_idle=1m")
		c.restart()
		client := c.secure()
		defer client.CloseIdleConnections()
		for _, tt := range []struct {
			name, more, path string
			status           int
		}{
			{"a large message", `,"x":"` + strings.Repeat("x", 1<<20) + `"`, "/modern/quarry", http.StatusRequestEntityTooLarge},
			{"a long URL", "", "/modern/quarry?" + strings.Repeat("x", 9<<10), http.StatusRequestURITooLong},
			{"nothing of the kind", "", "/modern/quarry", http.StatusOK},
		} {
			resp, err := client.Do(modernCall(c.t, tt.more, tt.path))
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.ProtoMajor != 2 || resp.StatusCode != tt.status || err != nil {
				t.Errorf("%s: %s %d, %v, want %d", tt.name, resp.Proto, resp.StatusCode, err, tt.status)
			}
		}
		crowds(c.t, c)
		slowly(c.t, client)
	})
}

// crowds opens one connection more than there may be.
func crowds(t *testing.T, c *eraCell) {
	t.Helper()
	second := c.wire()
	defer func() { _ = second.Close() }()
	synctest.Wait()
	third := c.secure()
	defer third.CloseIdleConnections()
	resp, err := third.Do(modernCall(t, "", "/modern/quarry"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "5" {
		t.Errorf("a connection too many: %d %v", resp.StatusCode, resp.Header)
	}
}

// slowly leaves an answer unread that is larger than what a client takes unread, while
// its connection answers others.
func slowly(t *testing.T, client *http.Client) {
	t.Helper()
	resp, err := client.Do(modernCall(t, "", "/modern/quarry"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	time.Sleep(time.Minute)
	if read, err := io.Copy(io.Discard, resp.Body); err == nil || read >= 10<<20 {
		t.Errorf("%d bytes were kept for a client that does not read, %v", read, err)
	}
}
