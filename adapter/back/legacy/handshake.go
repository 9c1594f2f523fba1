package legacy

import (
	"context"
	"errors"
	"strings"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

var (
	// ErrVersion: the server has chosen a revision that nobody knows (B-U2).
	ErrVersion error = &port.CauseError{Text: "unknown revision in the result of initialize", Public: "backend speaks no known revision of the protocol"}
	// ErrSessionID: the session id that the server gave cannot be sent back.
	ErrSessionID error = &port.CauseError{Text: "malformed session id", Public: "invalid response of the backend"}
	// ErrHandshake: the handshake took longer than Times.Open.
	ErrHandshake error = &port.CauseError{Text: "handshake not completed in time", Public: port.TimedOut}
)

// version20241105 is older than everything that a client may negotiate with the
// bridge, but servers that choose it can be talked to (B-U2).
const version20241105 = "2024-11-05"

// maxSessionID bounds a session id, in bytes.
const maxSessionID = 1 << 10

// handshake opens the session at the server (B-U2). The error is the server's own
// or a *[port.UpstreamError].
func (s *session) handshake(ctx context.Context) error {
	s.opening = true
	defer func() { s.opening = false }()
	ctx, cancel := env.WithTimeout(ctx, s.c.server.Env, s.c.times.Open, ErrHandshake)
	defer cancel()
	about, err := s.do(ctx, &port.SessionCall{Method: legacy2025.MethodInitialize, Params: s.greeting()})
	if err != nil {
		return err
	}
	version, _ := about.Get("protocolVersion").Text()
	if !legacy2025.Supported(version) && version != version20241105 {
		return initializeFailed(ErrVersion)
	}
	s.about, s.ticket.Version = about, version
	err = s.Notify(ctx, legacy2025.NotificationInitialized, "")
	if errors.Is(err, port.ErrSessionLost) {
		return initializeFailed(err)
	}
	return err
}

// greeting is the params of initialize.
func (s *session) greeting() wire.Value {
	if s.hello.Params.Present() {
		return s.hello.Params
	}
	capabilities := s.hello.Capabilities
	if !capabilities.Present() {
		capabilities = "{}"
	}
	w := wire.Begin(nil)
	w.Text("protocolVersion", legacy2025.Latest)
	w.Value("capabilities", capabilities)
	w.Value("clientInfo", s.hello.ClientInfo)
	return wire.Value(w.End())
}

// admitted reads the head of the answer to initialize, before anything else of
// it is used.
func (x *exchange) admitted() error {
	id := x.Header(headerSession)
	invisible := func(r rune) bool { return r < '!' || r > '~' }
	if len(id) > maxSessionID || strings.ContainsFunc(id, invisible) {
		return initializeFailed(ErrSessionID)
	}
	x.s.ticket.ID = id
	return nil
}

func initializeFailed(err error) error {
	return &port.UpstreamError{Op: legacy2025.MethodInitialize, Sent: true, Err: err}
}
