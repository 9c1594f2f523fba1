package edge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/env"
)

// Access is how the callers of a route make themselves known.
type Access struct {
	// Principal is who the bridge itself has verified the caller to be. Empty means
	// that it verifies nobody.
	Principal string
	// Until is when the token of such a caller is good no longer.
	Until time.Time
	// Metadata is the URL where clients find out where to log in; empty means that
	// there is none.
	Metadata string
}

// accessKey is where a request keeps its [Access].
const accessKey = "taskbridge access"

// SetAccess notes how the caller of a request has made itself known.
func SetAccess(c *gin.Context, a Access) { c.Set(accessKey, a) }

func access(c *gin.Context) Access {
	value, _ := c.Get(accessKey)
	a, _ := value.(Access)
	return a
}

// Principal names the owner behind a request: who was verified, else the owner of the
// credential, and "" without one. The name is the same whatever secrets there are. It is
// for memory only: somebody could try passwords on it, so that what is stored or told is
// a keyed hash of it.
func Principal(c *gin.Context) string {
	if verified := access(c).Principal; verified != "" {
		return verified
	}
	authorization := c.GetHeader("Authorization")
	if authorization == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("credential\x00" + authorization))
	return "credential:" + hex.EncodeToString(sum[:])
}

// Verified reports whether the bridge itself has verified who the caller is.
func Verified(c *gin.Context) bool { return access(c).Principal != "" }

// WhileVerified calls end when the token of a caller that the bridge has verified is good
// no longer, unless the returned function was called before: for what only listens, and
// can be opened again with another token.
func WhileVerified(c *gin.Context, e env.Env, end func()) (stop func() bool) {
	a := access(c)
	if a.Principal == "" {
		return func() bool { return false }
	}
	return e.AfterFunc(a.Until.Sub(e.Now()), end)
}

// Refusal is an answer that only the end user can cure (A-L17). The zero value is none.
type Refusal struct {
	// Status is 401 or 403.
	Status int
	// Scope is what the user has to allow, where that is known.
	Scope string
	// Reason says in plain ASCII what is wrong with the credential, where that is
	// known.
	Reason string
}

// Refused returns a backend's refusal of the caller's credential, or none when that is
// not what the error says.
func Refused(err error) Refusal {
	var upstream *port.UpstreamError
	if errors.As(err, &upstream) && (upstream.Status == http.StatusUnauthorized || upstream.Status == http.StatusForbidden) {
		return Refusal{Status: upstream.Status, Scope: upstream.Scope}
	}
	return Refusal{}
}

// Challenge adds the WWW-Authenticate header of a refusal (RFC 6750 §3, RFC 9728 §5.1).
// It is the bridge's own; of the backend's only the scope is passed on.
func (r Refusal) Challenge(c *gin.Context) {
	var params []string
	add := func(name, value string) {
		if value != "" {
			params = append(params, name+`="`+value+`"`)
		}
	}
	switch {
	case r.Status == http.StatusForbidden:
		add("error", "insufficient_scope")
	case r.Status != http.StatusUnauthorized:
		return
	case c.GetHeader("Authorization") != "":
		add("error", "invalid_token")
		add("error_description", r.Reason)
	}
	add("scope", r.Scope)
	add("resource_metadata", access(c).Metadata)
	c.Header("WWW-Authenticate", strings.TrimRight("Bearer "+strings.Join(params, ", "), " "))
}

// Deny answers a caller who has not made itself known.
func (r Refusal) Deny(c *gin.Context) {
	r.Challenge(c)
	c.Abort()
	if r.Reason == "" {
		r.Reason = "want a bearer token"
	}
	WriteError(c, r.Status, "", invalidRequest("Authorization: %s", r.Reason))
}
