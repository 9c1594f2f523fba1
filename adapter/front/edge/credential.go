package edge

import (
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/seal"
)

// Principal names the owner behind a credential, or returns "" without one. The
// name tells nothing of the credential.
func Principal(keys *seal.Keys, authorization string) string {
	if authorization == "" {
		return ""
	}
	sum := keys.Hash("credential", []byte(authorization))
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
