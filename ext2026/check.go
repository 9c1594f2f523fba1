package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// CheckParams reads the params of a request as method requires, the envelope
// aside. Other methods require nothing. The error is a *[wire.DecodeError].
func CheckParams(method string, params wire.Object) error {
	var err error
	switch method {
	case MethodToolsCall:
		_, err = callToolParams(params)
	case MethodPromptsGet:
		_, err = getPromptParams(params)
	case MethodResourcesRead:
		_, err = readResourceParams(params)
	case MethodCompletionComplete:
		_, err = completeParams(params)
	case MethodSubscriptionsListen:
		_, err = listenParams(params)
	case MethodToolsList, MethodPromptsList, MethodResourcesList, MethodResourceTemplatesList:
		_, err = listParams(params)
	}
	return err
}

// CheckResult reads the complete result of method as far as the revision
// requires something of it, the type aside. Other methods require nothing. The
// error is a *[wire.DecodeError].
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
