package ext2026

// Requests, all from client to server: the revision has no others. Those of the
// tasks extension stand in the files of those messages.
const (
	MethodServerDiscover        = "server/discover"
	MethodToolsList             = "tools/list"
	MethodToolsCall             = "tools/call"
	MethodPromptsList           = "prompts/list"
	MethodPromptsGet            = "prompts/get"
	MethodResourcesList         = "resources/list"
	MethodResourceTemplatesList = "resources/templates/list"
	MethodResourcesRead         = "resources/read"
	MethodCompletionComplete    = "completion/complete"
	MethodSubscriptionsListen   = "subscriptions/listen"
)

// Notifications.
const (
	NotificationSubscriptionsAcknowledged = "notifications/subscriptions/acknowledged"
	NotificationProgress                  = "notifications/progress"
	NotificationCancelled                 = "notifications/cancelled"
	NotificationMessage                   = "notifications/message"
	NotificationToolsListChanged          = "notifications/tools/list_changed"
	NotificationPromptsListChanged        = "notifications/prompts/list_changed"
	NotificationResourcesListChanged      = "notifications/resources/list_changed"
	NotificationResourcesUpdated          = "notifications/resources/updated"
)

// Cacheable reports whether results of method carry ttlMs and cacheScope.
func Cacheable(method string) bool {
	switch method {
	case MethodServerDiscover, MethodToolsList, MethodPromptsList, MethodResourcesList,
		MethodResourceTemplatesList, MethodResourcesRead:
		return true
	default:
		return false
	}
}

// Asks reports whether method may be answered with input_required.
func Asks(method string) bool {
	switch method {
	case MethodToolsCall, MethodPromptsGet, MethodResourcesRead:
		return true
	default:
		return false
	}
}
