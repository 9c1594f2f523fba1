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

// CheckParams reads the params of a request that a server serves, as method
// requires. Other methods require nothing. The error is a *[wire.DecodeError].
func CheckParams(method string, params wire.Object) error {
	var err error
	switch method {
	case MethodToolsCall:
		_, err = callToolParams(params)
	case MethodPromptsGet:
		_, err = getPromptParams(params)
	case MethodResourcesRead, MethodResourcesSubscribe, MethodResourcesUnsubscribe:
		_, err = resourceParams(params)
	case MethodCompletionComplete:
		_, err = completeParams(params)
	case MethodToolsList, MethodPromptsList, MethodResourcesList, MethodResourceTemplatesList:
		_, err = listParams(params)
	}
	return err
}
