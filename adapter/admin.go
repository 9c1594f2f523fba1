package adapter

import (
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

// admin returns the handler of the admin listener: health, for now.
//
// /healthz says that the process runs; /readyz that it can serve, which needs
// the store.
func (b *Bridge) admin() http.Handler {
	engine := newEngine()
	guard := &edge.Guard{Hosts: b.cfg.AllowedHosts}
	engine.Use(guard.Check, b.checkToken)
	engine.GET("/healthz", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ok"}) })
	engine.GET("/readyz", b.readyz)
	return engine
}

func (b *Bridge) readyz(c *gin.Context) {
	// Any answer of the store will do, that there is no such record included.
	if err := b.pingStore(c.Request.Context()); err != nil {
		b.logger.WarnContext(c.Request.Context(), "store not available", "error", err)
		c.JSON(http.StatusServiceUnavailable, gin.H{"status": "store not available"})
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "ready"})
}

// checkToken asks for the configured token, which is required off loopback.
func (b *Bridge) checkToken(c *gin.Context) {
	want := b.cfg.Admin.Token
	if want == "" {
		return
	}
	scheme, got, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(got), []byte(want)) != 1 {
		c.Header("WWW-Authenticate", "Bearer")
		c.AbortWithStatusJSON(http.StatusUnauthorized, gin.H{"status": "token required"})
	}
}
