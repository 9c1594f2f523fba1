package modern

import "github.com/taskbridge/taskbridge/ext2026"

// Repeatable reports whether a request of this method may be sent again after
// the server may have seen it (A-U6). Unknown methods may not.
func Repeatable(method string) bool {
	switch method {
	case ext2026.MethodServerDiscover,
		ext2026.MethodToolsList, ext2026.MethodPromptsList,
		ext2026.MethodResourcesList, ext2026.MethodResourceTemplatesList,
		ext2026.MethodResourcesRead, ext2026.MethodPromptsGet, ext2026.MethodCompletionComplete,
		ext2026.MethodTasksGet, ext2026.MethodTasksUpdate, ext2026.MethodTasksCancel:
		return true
	default:
		return false
	}
}
