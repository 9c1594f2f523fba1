package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// ProgressToken returns the token that the params of a request ask progress
// under, as received; absent when there is none. Null counts as none. The error
// is a *[wire.DecodeError].
func ProgressToken(params wire.Value) (wire.Value, error) {
	meta := params.Get("_meta")
	if meta.Present() && !meta.IsObject() {
		return "", wire.Wrong("params._meta", "an object")
	}
	token := meta.Get(wire.MetaProgressToken)
	switch {
	case !token.Present() || token == wire.Null:
		return "", nil
	case !validToken(token):
		return "", wire.Wrong("params._meta.progressToken", "a string or a number")
	default:
		return token, nil
	}
}
