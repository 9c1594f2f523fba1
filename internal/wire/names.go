package wire

// Prefix is the reserved prefix of protocol keys in _meta and in extensions.
const Prefix = "io.modelcontextprotocol/"

// Keys of _meta that one of the eras reserves (PROTOCOL.md §3.6).
const (
	MetaProtocolVersion    = Prefix + "protocolVersion"
	MetaClientInfo         = Prefix + "clientInfo"
	MetaClientCapabilities = Prefix + "clientCapabilities"
	MetaLogLevel           = Prefix + "logLevel"
	MetaServerInfo         = Prefix + "serverInfo"
	MetaSubscriptionID     = Prefix + "subscriptionId"
	MetaRelatedTask        = Prefix + "related-task"
	MetaImmediateResponse  = Prefix + "model-immediate-response"
	MetaProgressToken      = "progressToken"
)

// TasksExtension is the identifier of the tasks extension in
// capabilities.extensions. Any object under it counts as support.
const TasksExtension = Prefix + "tasks"

// TasksExtensionPath is the gjson path of [TasksExtension] below a capabilities
// object; the dot in the identifier is escaped.
const TasksExtensionPath = `extensions.io\.modelcontextprotocol/tasks`

// MethodInitialize begins a session in the revisions that have them.
const MethodInitialize = "initialize"

// Protocol revisions by which an edge recognises an era.
const (
	Version20260728 = "2026-07-28"
	Version20251125 = "2025-11-25"
	Version20250618 = "2025-06-18"
	Version20250326 = "2025-03-26"
)
