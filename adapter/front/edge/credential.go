package edge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// Principal names the owner behind the credential of a request, or returns "" without one. The name
// is the same whatever secrets there are. It is for memory only: somebody could try
// passwords on it, so that what is stored or told is a keyed hash of it.
func Principal(c *gin.Context) string {
	authorization := c.GetHeader("Authorization")
	if authorization == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("credential\x00" + authorization))
	return "credential:" + hex.EncodeToString(sum[:])
}

// Refused returns the HTTP status with which a backend has refused the caller's
// credential, or 0 when that is not what the error says (A-L17).
func Refused(err error) int {
	var upstream *port.UpstreamError
	if errors.As(err, &upstream) && (upstream.Status == http.StatusUnauthorized || upstream.Status == http.StatusForbidden) {
		return upstream.Status
	}
	return 0
}

// Challenge is the WWW-Authenticate header of such an answer. It is the bridge's
// own; nothing of the backend's is passed on.
func Challenge(status int) string {
	if status == http.StatusForbidden {
		return `Bearer error="insufficient_scope"`
	}
	return "Bearer"
}
