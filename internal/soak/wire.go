package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// address is the n-th client of a kind, of those that share a net.
func address(kind byte, n int) net.IP {
	return net.IPv4(127, kind, byte(n/250), byte(1+n%250)) //nolint:gosec // there are fewer of a kind
}

// dialer dials from an address of its own.
func dialer(from net.IP) *net.Dialer {
	return &net.Dialer{Timeout: 20 * time.Second, LocalAddr: &net.TCPAddr{IP: from}}
}

// client is an HTTP client with an address of its own.
func client(from net.IP) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: dialer(from).DialContext, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second,
		DisableCompression: true,
	}}
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	msg    message
	raw    []byte
}

// message is the response in an answer.
type message struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 16 << 20

// post sends a message and reads the answer to its end: a body, or the last message of
// an event stream.
func post(ctx context.Context, c *http.Client, url string, header http.Header, body io.Reader) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return newAnswer(resp.StatusCode, resp.Header, text), nil
}

func newAnswer(status int, header http.Header, text []byte) *answer {
	if strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		text = lastEvent(text)
	}
	a := &answer{status: status, header: header, raw: text}
	_ = json.Unmarshal(text, &a.msg) // one that is none has neither result nor error
	return a
}

// lastEvent is the data of the last event of a stream that has some.
func lastEvent(text []byte) (data []byte) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok && len(rest) > 0 {
			data = rest
		}
	}
	return data
}

// shed reports whether the client was told to come back, and when.
func (a *answer) shed() (after time.Duration, ok bool) {
	if a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests {
		return 0, false
	}
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil && seconds >= 0
}

// kind names an answer for the figures.
func (a *answer) kind() string {
	name := strconv.Itoa(a.status)
	if a.msg.Error != nil {
		name += fmt.Sprint(" ", a.msg.Error.Code)
	}
	return name
}

// raw is a connection on which anything can be written.
type rawConn struct {
	net.Conn
	in *bufio.Reader
}

func dialRaw(ctx context.Context, from net.IP, to string) (*rawConn, error) {
	conn, err := dialer(from).DialContext(ctx, "tcp", to)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &rawConn{closing{conn, stop}, bufio.NewReaderSize(conn, 512)}, nil
}

// closing forgets a context when its connection is closed.
type closing struct {
	net.Conn
	forget func() bool
}

func (c closing) Close() error {
	c.forget()
	return c.Conn.Close()
}

// head reads the head of the answer to what was written, within the time given.
func (c *rawConn) head(within time.Duration) (*http.Response, error) {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.in, nil)
}

// answered reads a whole answer.
func (c *rawConn) answered(within time.Duration) (*answer, error) {
	resp, err := c.head(within)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return newAnswer(resp.StatusCode, resp.Header, text), nil
}
