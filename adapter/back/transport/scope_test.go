package transport

import (
	"net/http"
	"strings"
	"testing"
)

func TestScope(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		header []string
		want   string
	}{
		"none":                    {401, nil, ""},
		"no scope":                {401, []string{"Bearer"}, ""},
		"one":                     {401, []string{`Bearer scope="files:read"`}, "files:read"},
		"several, among others":   {403, []string{`Bearer error="insufficient_scope", scope="files:read files:write", resource_metadata="https://x"`}, "files:read files:write"},
		"as a token":              {401, []string{"Bearer realm=x,scope=all, error=y"}, "all"},
		"in upper case":           {401, []string{`BEARER SCOPE = "a"`}, "a"},
		"in the second challenge": {401, []string{`Basic realm="x"`, `Bearer scope="a"`}, "a"},
		"of another scheme":       {401, []string{`Basic scope="a"`}, ""},
		"of another name":         {401, []string{`Bearer xscope="a"`}, ""},
		"with another status":     {400, []string{`Bearer scope="a"`}, ""},
		"empty":                   {401, []string{`Bearer scope=""`}, ""},
		"two spaces":              {401, []string{`Bearer scope="a  b"`}, ""},
		"a quoted quote":          {401, []string{`Bearer scope="a\" b"`}, ""},
		"not ASCII":               {401, []string{"Bearer scope=\"\u00e4\""}, ""},
		"too long":                {401, []string{`Bearer scope="` + strings.Repeat("a", 1025) + `"`}, ""},
	} {
		t.Run("A-L17 "+name, func(t *testing.T) {
			t.Parallel()
			if got := scope(tt.status, http.Header{"Www-Authenticate": tt.header}); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
