package transport

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"
)

// Bounds of the transport. None of them bounds the wait for an answer, which
// may rightly take as long as a tool does: that is the watchdog's.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	// idleConnTimeout stays below the five seconds after which the common Node
	// and Python servers close an idle connection. A call that meets such a
	// close on its way has an unknown outcome and is not sent again (G-6).
	idleConnTimeout = 4 * time.Second
	idleConns       = 4096
	idleConnsPerKey = 1024
	bufferSize      = 16 << 10
	// maxHeaders bounds the headers of an answer, in bytes.
	maxHeaders  = 256 << 10
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

// NewHTTPClient returns a client that suits backends: many reusable connections,
// HTTP/1.1 and HTTP/2, no cookies, no redirects, no compression (an event that
// waits in a compressor is late), and no limit on the wait for an answer. Roots
// are the only authorities trusted; nil means the system's.
//
// As any command does, it honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY; loopback
// addresses never go through a proxy.
func NewHTTPClient(roots *x509.CertPool) *http.Client {
	dialer := &net.Dialer{
		Timeout: dialTimeout,
		// A subscription may be silent for ever: only the probes of the network
		// tell a dead server from a quiet one.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: pingAfter, Interval: pingTimeout, Count: 4},
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dialer.DialContext,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ClientSessionCache: tls.NewLRUClientSessionCache(0)},
			TLSHandshakeTimeout: handshakeTimeout,
			DisableCompression:  true,
			MaxIdleConns:        idleConns,
			MaxIdleConnsPerHost: idleConnsPerKey,
			IdleConnTimeout:     idleConnTimeout,
			ReadBufferSize:      bufferSize,
			WriteBufferSize:     bufferSize,
			// Those of informational answers ahead of it count, too.
			MaxResponseHeaderBytes: maxHeaders,
			Protocols:              protocols,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		},
		CheckRedirect: keepRedirect,
	}
}

// Harden returns a copy of client without what a gateway must not do.
func Harden(client *http.Client) *http.Client {
	if client == nil {
		return NewHTTPClient(nil)
	}
	hardened := *client
	hardened.CheckRedirect = keepRedirect
	hardened.Jar = nil
	hardened.Timeout = 0
	return &hardened
}

// keepRedirect makes a redirect an answer like any other: following it could
// take a credential to another server.
func keepRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
