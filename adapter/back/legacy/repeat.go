package legacy

import "github.com/taskbridge/taskbridge/legacy2025"

// Repeatable reports whether a request of this method may be sent again after
// the server may have seen it (G-6): it changes nothing, or nothing more the
// second time. Unknown methods may not.
func Repeatable(method string) bool {
	switch method {
	case legacy2025.MethodPing,
		legacy2025.MethodToolsList, legacy2025.MethodPromptsList,
		legacy2025.MethodResourcesList, legacy2025.MethodResourceTemplatesList,
		legacy2025.MethodResourcesRead, legacy2025.MethodPromptsGet, legacy2025.MethodCompletionComplete,
		legacy2025.MethodResourcesSubscribe, legacy2025.MethodResourcesUnsubscribe, legacy2025.MethodLoggingSetLevel,
		legacy2025.MethodTasksGet, legacy2025.MethodTasksList, legacy2025.MethodTasksResult, legacy2025.MethodTasksCancel:
		return true
	default:
		return false
	}
}
