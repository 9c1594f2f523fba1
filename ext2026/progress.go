package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// ProgressParams is a view of the params of notifications/progress.
type ProgressParams struct {
	wire.Object
	// Token is the string or number as received; required.
	Token wire.Value
	// Progress is the number as received; required.
	Progress wire.Value
}

// ParseProgressParams reads the params of notifications/progress. The error is
// a *[wire.DecodeError].
func ParseProgressParams(v wire.Value) (ProgressParams, error) {
	obj, err := wire.ParseObject(v, "params")
	if err != nil {
		return ProgressParams{}, err
	}
	out := ProgressParams{Object: obj, Token: obj.Get("progressToken"), Progress: obj.Get("progress")}
	if !validToken(out.Token) {
		return ProgressParams{}, wire.Wrong("params.progressToken", "a string or a number")
	}
	if out.Progress.Kind() != wire.KindNumber {
		return ProgressParams{}, wire.Wrong("params.progress", "a number")
	}
	return out, nil
}

// validToken accepts any number: the token is compared as text and goes back
// digit for digit.
func validToken(v wire.Value) bool {
	return v.Kind() == wire.KindString || v.Kind() == wire.KindNumber
}
