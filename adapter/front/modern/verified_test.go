package modern_test

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

// TestVerified: a caller is who was verified, whatever token shows that.
func TestVerified(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		for _, token := range []string{"a", "b"} {
			r.do(ask("1", "tools/list", "", "Authorization: Bearer "+token, "X-Verified: subject:alice"))
			if caller := r.crossing.last().Caller; caller.Principal != "subject:alice" || !caller.Verified || caller.Authorization != "Bearer "+token {
				t.Errorf("caller %+v", caller)
			}
		}
	})
}
