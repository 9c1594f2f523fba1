package transport

import (
	"net/http"
	"regexp"
	"strings"
)

// maxScope bounds the scope that a server may ask for, in bytes.
const maxScope = 1 << 10

var (
	// scopeParam finds the scope in a challenge (RFC 6750 §3).
	scopeParam = regexp.MustCompile(`(?i)(?:^|[\s,])scope\s*=\s*(?:"([^"]*)"|([^\s",]+))`)
	// scopeTokens is what it may be (RFC 6749 §3.3): it goes into a header again.
	scopeTokens = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$`)
)

// scope returns what a server that refused a credential wants the user to allow.
func scope(status int, h http.Header) string {
	if status != http.StatusUnauthorized && status != http.StatusForbidden {
		return ""
	}
	for _, challenge := range h.Values("WWW-Authenticate") {
		found := scopeParam.FindStringSubmatch(challenge)
		if found == nil || !strings.Contains(strings.ToLower(challenge), "bearer") {
			continue
		}
		if value := found[1] + found[2]; len(value) <= maxScope && scopeTokens.MatchString(value) {
			return value
		}
	}
	return ""
}
