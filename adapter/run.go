package adapter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"github.com/taskbridge/taskbridge/internal/env"
)

// ErrListen says that an address could not be listened on.
var ErrListen = errors.New("cannot listen")

var errDrained = errors.New("requests did not end within times.drain")

// closeReserve is the part of the drain time kept for closing what is left.
const closeReserve = 2 * time.Second

// listener is an open address and what is served there.
type listener struct {
	net.Listener
	handler http.Handler
}

// Run opens the listeners, serves until ctx is done and then drains: new
// connections are refused, streams and waits end at once, calls in flight may
// end by themselves until shortly before the deadline times.drain, and then
// they are cut. It returns nil after a clean stop, [ErrListen] when an address
// is taken.
func (b *Bridge) Run(ctx context.Context) error {
	var cert *certificate
	if b.cfg.TLS != nil {
		var err error
		if cert, err = newCertificate(*b.cfg.TLS, b.env, b.logger); err != nil {
			return errors.Join(err, b.Close(context.WithoutCancel(ctx)))
		}
	}
	listeners, err := b.open(ctx)
	if err != nil {
		return errors.Join(err, b.Close(context.WithoutCancel(ctx)))
	}
	servers := make([]*http.Server, len(listeners))
	group, serving := errgroup.WithContext(ctx)
	for i, l := range listeners {
		servers[i] = b.server(l.handler)
		group.Go(func() error {
			if err := serve(servers[i], l, cert); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", l.Addr(), err)
			}
			return nil
		})
	}
	b.ready(b.routes(listeners)) //nolint:contextcheck // handlers have their requests' contexts
	<-serving.Done()
	drained := b.drain(context.WithoutCancel(ctx), servers)
	return errors.Join(group.Wait(), drained)
}

// idleTimeout ends a connection on which a client asks nothing more.
const idleTimeout = 2 * time.Minute

// pingAfter bounds the silence of an HTTP/2 connection, the answer to a ping, and a
// write to one.
const pingAfter = 30 * time.Second

// server returns a server that logs where everything else does.
func (b *Bridge) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: b.outermost(handler), ReadHeaderTimeout: b.cfg.Limits.HeaderTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaders, ConnContext: meet,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: h2Streams, MaxReceiveBufferPerConnection: h2Buffer, MaxReceiveBufferPerStream: h2Buffer,
			SendPingTimeout: pingAfter, PingTimeout: pingAfter, WriteByteTimeout: pingAfter,
		},
		ErrorLog: slog.NewLogLogger(b.logger.Handler(), slog.LevelWarn),
	}
}

// serve serves over TLS where there is a certificate.
func serve(s *http.Server, l listener, cert *certificate) error {
	if cert == nil {
		return s.Serve(l)
	}
	s.TLSConfig = cert.config()
	return s.ServeTLS(l, "", "")
}

// drain ends everything within times.drain.
func (b *Bridge) drain(ctx context.Context, servers []*http.Server) error {
	ctx, cancel := env.WithTimeout(ctx, b.env, b.cfg.Times.Drain, errDrained)
	defer cancel()
	b.logger.InfoContext(ctx, "draining", "deadline", b.cfg.Times.Drain)
	b.legacy.Drain()
	b.modern.Drain()
	patient, stop := env.WithTimeout(ctx, b.env, max(0, b.cfg.Times.Drain-closeReserve), errDrained)
	var group errgroup.Group
	for _, s := range servers {
		group.Go(func() error { return s.Shutdown(patient) })
	}
	late := errors.Join(group.Wait(), b.legacy.Wait(patient), b.modern.Wait(patient), b.tasks.Drain(patient), b.pump.Drain(patient))
	stop()
	err := b.Close(ctx)
	for _, s := range servers {
		err = errors.Join(err, s.Close())
	}
	if late != nil {
		b.logger.WarnContext(ctx, "calls were cut", "error", errDrained)
	}
	return err
}

// open opens every listener, or none.
func (b *Bridge) open(ctx context.Context) (listeners []listener, err error) {
	defer func() {
		if err != nil {
			for _, l := range listeners {
				err = errors.Join(err, l.Close())
			}
		}
	}()
	add := func(address string, doors *doors, handler func(net.Addr) http.Handler) error {
		l, err := b.listen(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrListen, err)
		}
		listeners = append(listeners, listener{door{l, doors}, handler(l.Addr())})
		return nil
	}
	var faces []*face
	clients := b.clientDoors()
	for _, shared := range b.addresses() { //nolint:contextcheck // handlers have their requests' contexts
		if err := add(shared[0].cfg.Listen, clients, func(at net.Addr) http.Handler { return b.serving(at, shared) }); err != nil {
			return listeners, err
		}
		faces = append(faces, shared...)
	}
	b.servePeers(faces)
	if !b.cfg.Admin.Off {
		if err := add(b.cfg.Admin.Listen, b.adminDoors(), func(net.Addr) http.Handler { return b.admin() }); err != nil {
			return listeners, err
		}
	}
	return listeners, nil
}

// serving is the handler of the faces at one address.
func (b *Bridge) serving(at net.Addr, shared []*face) http.Handler {
	engine := newEngine()
	engine.NoRoute(b.guard(shared...).Check)
	engine.NoMethod(b.guard(shared...).Check)
	for _, f := range shared {
		f.public = b.publicURL(at)
		f.routes(engine.Group("", b.guard(f).Check))
	}
	return engine
}

// newEngine returns an engine without gin's own recovery: it would make a
// stream that was cut look complete.
func newEngine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	// Only the peer's own address counts; headers can say anything.
	if err := engine.SetTrustedProxies(nil); err != nil {
		panic(err) //nolint:forbidigo // cannot fail for no proxies
	}
	return engine
}

// addresses returns the faces that are on, those at one address together.
func (b *Bridge) addresses() (out [][]*face) {
	for _, f := range b.faces() {
		if last := len(out) - 1; last >= 0 && out[last][0].cfg.Listen == f.cfg.Listen {
			out[last] = append(out[last], f)
			continue
		}
		out = append(out, []*face{f})
	}
	return out
}

func (b *Bridge) routes(listeners []listener) Ready {
	var r Ready
	for i, shared := range b.addresses() {
		for _, f := range shared {
			for j := range b.cfg.Backends {
				be := &b.cfg.Backends[j]
				route := Route{Face: f.name, Backend: be.Name, URL: fmt.Sprintf("%s://%s%s", b.scheme(), listeners[i].Addr(), f.path(be.Name))}
				if be.URL != nil {
					route.Target = be.URL.Redacted()
				}
				r.Routes = append(r.Routes, route)
			}
		}
	}
	if !b.cfg.Admin.Off {
		r.Admin = listeners[len(listeners)-1].Addr().String()
	}
	return r
}
