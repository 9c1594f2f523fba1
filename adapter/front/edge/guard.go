package edge

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Guard refuses requests that a browser was tricked into sending: a Host that
// is not ours, or an Origin that is neither ours nor allowed.
type Guard struct {
	// Hosts are the names a Host header may carry, lower case, without port; an
	// IPv6 address stands in brackets.
	Hosts []string
	// Origins are the web origins, scheme://host[:port] in lower case, that may
	// call and that CORS answers name. An origin on one of Hosts may call, but
	// gets no CORS answer.
	Origins []string
}

// exposed are the response headers a script of an allowed origin may read.
const exposed = "Mcp-Session-Id, WWW-Authenticate"

// Check is the first handler of every listener. It answers 403 itself, and the
// preflight of an allowed origin.
func (g *Guard) Check(c *gin.Context) {
	if !slices.Contains(g.Hosts, hostname(c.Request.Host)) {
		refuse(c, "host not allowed")
		return
	}
	if len(g.Origins) > 0 {
		// Also where no Origin was sent: what is cached must not serve another.
		c.Writer.Header().Add("Vary", "Origin")
	}
	origin := c.GetHeader("Origin")
	if origin == "" {
		return
	}
	allowed := slices.Contains(g.Origins, strings.ToLower(origin))
	if !allowed && !g.ownOrigin(origin) {
		refuse(c, "origin not allowed")
		return
	}
	if !allowed {
		return
	}
	c.Header("Access-Control-Allow-Origin", origin)
	c.Header("Access-Control-Expose-Headers", exposed)
	if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
		c.Header("Access-Control-Allow-Methods", "GET, POST, DELETE")
		c.Header("Access-Control-Allow-Headers", c.GetHeader("Access-Control-Request-Headers"))
		c.Header("Access-Control-Max-Age", "600")
		c.AbortWithStatus(http.StatusNoContent)
	}
}

// ownOrigin reports whether the origin's host is one of ours.
func (g *Guard) ownOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && slices.Contains(g.Hosts, hostname(u.Host))
}

// hostname strips the port and lowers the case; an IPv6 address keeps its
// brackets.
func hostname(hostport string) string {
	host := strings.ToLower(hostport)
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
		if strings.Contains(bare, ":") {
			host = "[" + bare + "]"
		}
	}
	return host
}

func refuse(c *gin.Context, why string) {
	c.Abort()
	WriteError(c, http.StatusForbidden, "", invalidRequest("%s", why))
}
