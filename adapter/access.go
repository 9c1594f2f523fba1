package adapter

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/auth"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// access is who verifies the callers of the bridge, and where they log in.
type access struct {
	verifier *auth.Verifier           // nil: the backends do
	servers  map[string]*auth.Servers // of the backends that verify, by name
}

func (b *Bridge) buildAccess(backends []*backend) {
	a := &b.cfg.Auth
	if a.Verifies() {
		client := transport.NewHTTPClient(nil)
		if t, ok := client.Transport.(*http.Transport); ok && b.dial != nil {
			t.DialContext, t.Proxy = b.dial, nil
		}
		b.access.verifier = auth.New(auth.Options{
			URL: a.JWKSURL, Issuer: a.Issuer, HTTP: client, Env: b.env, Logger: b.logger,
		})
		b.stops = append(b.stops, b.access.verifier.Close, client.CloseIdleConnections)
		if a.JWKSURL.Scheme == "http" && !isLoopback(a.JWKSURL.Host) {
			b.logger.Warn("the key set is fetched without TLS: whoever can change it on its way can issue tokens")
		}
	}
	b.access.servers = make(map[string]*auth.Servers, len(backends))
	for _, be := range backends {
		if be.cfg.Credentials == config.CredentialsForward {
			b.access.servers[be.cfg.Name] = auth.NewServers(auth.ServersOptions{
				URL: be.target, HTTP: be.http, Env: b.env, Timeout: b.cfg.Times.Probe,
			})
		}
	}
}

// protected reports whether callers of a backend may have to log in.
func (b *Bridge) protected(c *config.Backend) bool {
	return b.cfg.Auth.Verifies() || c.Credentials == config.CredentialsForward
}

// publicURL is the address of a face as clients know it: the configured one, or that of
// the listener where only this machine reaches it. Nothing that a request says counts.
func (b *Bridge) publicURL(listening net.Addr) *url.URL {
	if configured := b.cfg.Auth.PublicURL; configured != nil {
		return configured
	}
	if listening == nil || !isLoopback(listening.String()) {
		return nil
	}
	return &url.URL{Scheme: b.scheme(), Host: listening.String()}
}

func (b *Bridge) scheme() string {
	if b.cfg.TLS != nil {
		return "https"
	}
	return "http"
}

// isLoopback reports whether only this machine reaches a host, with a port or without.
func isLoopback(hostport string) bool {
	host := hostport
	if bare, _, err := net.SplitHostPort(hostport); err == nil {
		host = bare
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// resource is the identifier of a route as a protected resource (RFC 8707 §2), or empty
// where the address is not known.
func (f *face) resource(backend string) string {
	if f.public == nil {
		return ""
	}
	return f.public.Scheme + "://" + f.public.Host + f.public.EscapedPath() + f.path(backend)
}

// metadataURL is where the metadata of a route is found, or empty.
func (f *face) metadataURL(backend string) string {
	if f.public == nil {
		return ""
	}
	return f.public.Scheme + "://" + f.public.Host + auth.WellKnown + f.public.EscapedPath() + f.path(backend)
}

// gate is passed by the callers of a route: where there is a key set, only by those
// whose token is good for the route.
func (b *Bridge) gate(f *face, be *config.Backend) gin.HandlerFunc {
	route := edge.Access{}
	if b.protected(be) {
		route.Metadata = f.metadataURL(be.Name)
	}
	var audiences []string
	if b.cfg.Auth.Audience != "" {
		audiences = append(audiences, b.cfg.Auth.Audience)
	}
	if b.cfg.Auth.PublicURL != nil {
		audiences = append(audiences, f.resource(be.Name))
	}
	return func(c *gin.Context) {
		edge.SetAccess(c, route)
		// What is no method of the face is refused as such, whoever asks.
		if b.access.verifier == nil || c.Request.Method == http.MethodOptions || !f.serves(c.Request.Method) {
			return
		}
		id, err := b.access.verifier.Verify(c.Request.Context(), c.Request.Header.Values("Authorization"), audiences)
		if err != nil {
			b.deny(c, err)
			return
		}
		edge.SetAccess(c, edge.Access{Principal: id.Principal(), Until: id.Until, Metadata: route.Metadata})
	}
}

// deny answers a caller that could not be verified.
func (b *Bridge) deny(c *gin.Context, err error) {
	var refused *auth.RefusedError
	switch {
	case errors.As(err, &refused):
		edge.Refusal{Status: http.StatusUnauthorized, Reason: refused.Error()}.Deny(c)
	case errors.Is(err, auth.ErrMissing):
		edge.Refusal{Status: http.StatusUnauthorized}.Deny(c)
	default:
		wait := math.Ceil(b.access.verifier.RetryAfter().Seconds())
		c.Header("Retry-After", strconv.Itoa(max(1, int(wait))))
		c.Abort()
		edge.WriteError(c, http.StatusServiceUnavailable, "", jsonrpc.NewError(jsonrpc.CodeInternal, "callers cannot be verified now; try again later"))
	}
}

// describe serves the metadata of a route as a protected resource (RFC 9728).
func (b *Bridge) describe(routes gin.IRoutes, f *face, be *config.Backend) {
	resource := f.resource(be.Name)
	if resource == "" || !b.protected(be) {
		return
	}
	serve := func(c *gin.Context) {
		m, err := b.metadata(c.Request.Context(), be.Name)
		if err != nil {
			c.JSON(http.StatusNotFound, gin.H{"error": err.Error()})
			return
		}
		doc, err := m.Document(resource)
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		c.Header("Cache-Control", "max-age=60")
		c.Data(http.StatusOK, edge.JSON, doc)
	}
	paths := []string{auth.WellKnown + f.path(be.Name)}
	if prefix := f.public.EscapedPath(); prefix != "" {
		// A proxy in front may take the prefix away, or not.
		paths = append(paths, auth.WellKnown+prefix+f.path(be.Name))
	}
	for _, path := range paths {
		routes.GET(path, serve)
		routes.OPTIONS(path, func(c *gin.Context) {
			c.Header("Allow", "GET, OPTIONS")
			c.Status(http.StatusNoContent)
		})
	}
}

// metadata is where callers of a backend log in.
func (b *Bridge) metadata(ctx context.Context, backend string) (auth.Metadata, error) {
	if servers := b.cfg.Auth.AuthorizationServers; len(servers) > 0 {
		return auth.Metadata{AuthorizationServers: servers}, nil
	}
	servers := b.access.servers[backend]
	if servers == nil {
		return auth.Metadata{}, auth.ErrNoServers
	}
	return servers.Get(ctx)
}

// closed are the backends that get no credential of their callers: what they say of
// one is not for callers to cure (A-L17).
func (b *Bridge) closed() map[string]bool {
	closed := make(map[string]bool)
	for i := range b.cfg.Backends {
		c := &b.cfg.Backends[i]
		closed[c.Name] = c.Credentials != config.CredentialsForward
	}
	return closed
}

// ownCredentials is a crossing whose callers are not told to log in where that is of
// no use.
type ownCredentials struct {
	port.Crossing

	closed map[string]bool
}

// Request implements [port.Crossing].
func (o *ownCredentials) Request(ctx context.Context, x *port.Exchange) port.Outcome {
	out := o.Crossing.Request(ctx, x)
	if o.closed[x.Backend] {
		out.Err = incurable(out.Err)
	}
	return out
}

// Answer implements [port.Crossing].
func (o *ownCredentials) Answer(ctx context.Context, x *port.Exchange) error {
	err := o.Crossing.Answer(ctx, x)
	if o.closed[x.Backend] && edge.Refused(err).Status != 0 {
		return &port.UpstreamError{Op: "answer", Status: http.StatusBadGateway, Sent: true, Err: err}
	}
	return err
}

// ownParams checks parameters for such callers.
type ownParams struct {
	port.ParamChecker

	closed map[string]bool
}

// CheckParams implements [port.ParamChecker].
func (o *ownParams) CheckParams(ctx context.Context, x *port.Exchange, header func(name string) []string) error {
	err := o.ParamChecker.CheckParams(ctx, x, header)
	if o.closed[x.Backend] {
		err = incurable(err)
	}
	return err
}

// incurable is an error without the status that would have the caller log in.
func incurable(err error) error {
	if edge.Refused(err).Status == 0 {
		return err
	}
	if own := (*jsonrpc.Error)(nil); errors.As(err, &own) {
		return own
	}
	var upstream *port.UpstreamError
	errors.As(err, &upstream)
	return &port.CauseError{Text: err.Error(), Public: upstream.Public()}
}
