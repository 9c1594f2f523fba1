package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

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

// CheckResult reads the result of method as far as the revision requires
// something of it. Other methods require nothing. The error is a
// *[wire.DecodeError].
func CheckResult(method string, result wire.Object) error {
	var err error
	switch method {
	case MethodToolsCall:
		_, err = callToolResult(result)
	case MethodPromptsGet:
		_, err = getPromptResult(result)
	case MethodResourcesRead:
		_, err = readResourceResult(result)
	case MethodCompletionComplete:
		_, err = completeResult(result)
	case MethodToolsList, MethodPromptsList, MethodResourcesList, MethodResourceTemplatesList:
		_, err = listResult(method, result)
	}
	return err
}
