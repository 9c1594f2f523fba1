package legacy_test

import (
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
)

// verified stands for the gate in front of a face, which verifies tokens: here they
// are said to be somebody's.
func verified(c *gin.Context) {
	if who := c.GetHeader("X-Verified"); who != "" {
		edge.SetAccess(c, edge.Access{Principal: who, Metadata: "https://bridge.example/meta"})
	}
}

// TestVerified: a session is the verified caller's, whatever token shows that, and
// nobody else's.
func TestVerified(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		id := r.open("Authorization: Bearer a", "X-Verified: subject:alice")
		if a := r.post(id, call("1", "tools/list"), "Authorization: Bearer b", "X-Verified: subject:alice"); a.status != 200 {
			t.Errorf("a refreshed token: %d %s", a.status, a.body)
		}
		if caller := r.crossing.last().Caller; caller.Principal != "subject:alice" || !caller.Verified || caller.Authorization != "Bearer b" {
			t.Errorf("caller %+v", caller)
		}
		unknown := r.post("nosuch", call("1", "tools/list"), "Authorization: Bearer a", "X-Verified: subject:bob")
		for _, foreign := range []string{"X-Verified: subject:bob", "X-Verified:"} {
			if a := r.post(id, call("1", "tools/list"), "Authorization: Bearer a", foreign); a.status != 404 || a.body != unknown.body {
				t.Errorf("%s: %d %s", foreign, a.status, a.body)
			}
		}
	})
}
