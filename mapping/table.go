package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// Verdict says what becomes of a message that arrives at the bridge.
type Verdict uint8

// The verdicts.
const (
	// Direct: there is a counterpart, and the message is translated into it.
	Direct Verdict = iota + 1
	// Passthrough: it crosses under its own name; only the envelope and what both
	// eras share by other rules change.
	Passthrough
	// Synthesized: the bridge answers itself, with requests of its own to the
	// backend where it needs them.
	Synthesized
	// Refused: a request that is answered with -32601.
	Refused
	// Consumed: a notification that the bridge acts on and hands to nobody.
	Consumed
	// Swallowed: a notification that is accepted and dropped.
	Swallowed
)

func (v Verdict) String() string {
	switch v {
	case Direct:
		return "direct"
	case Passthrough:
		return "passthrough"
	case Synthesized:
		return "synthesized"
	case Refused:
		return "refused"
	case Consumed:
		return "consumed"
	case Swallowed:
		return "swallowed"
	default:
		return "unknown"
	}
}

// Sender says who sends a message in an era.
type Sender uint8

// The senders. An era without the message has none of them.
const (
	// FromClient: the client sends it.
	FromClient Sender = 1 << iota
	// FromServer: the server sends it.
	FromServer
	// AsEntry: it is no message but a value of inputRequests.
	AsEntry
)

// Row is one method or notification and what becomes of it.
type Row struct {
	// Method is the name on the wire.
	Method string
	// Notification is true when nothing answers it.
	Notification bool
	// Legacy and Modern say who sends it in that era; zero where it does not exist.
	Legacy, Modern Sender
	// ToModern is the verdict between a legacy client and a modern backend, for a
	// message from either of them.
	ToModern Verdict
	// ToLegacy is the verdict between a modern client and a legacy backend.
	ToLegacy Verdict
	// Rule is where PROTOCOL says so.
	Rule string
}

// Lookup returns the row of a method or notification. ok is false for a name that
// neither era knows; such a message crosses as it is (G-3).
func Lookup(method string) (row Row, ok bool) {
	for _, row := range table {
		if row.Method == method {
			return row, true
		}
	}
	return Row{}, false
}

// Table returns every method and notification of both eras. The slice is a copy.
func Table() []Row { return append([]Row(nil), table...) }

const bothSides = FromClient | FromServer

// table is PROTOCOL §3.2.
var table = []Row{
	{legacy2025.MethodInitialize, false, FromClient, 0, Synthesized, Refused, "§1.2, §1.8"},
	{legacy2025.NotificationInitialized, true, FromClient, 0, Consumed, Swallowed, "§1.2, §6.2"},
	{ext2026.MethodServerDiscover, false, 0, FromClient, Refused, Synthesized, "§1.3, B-L4"},
	{legacy2025.MethodPing, false, bothSides, 0, Synthesized, Refused, "§1.3, §6.2"},
	{legacy2025.MethodToolsList, false, FromClient, FromClient, Direct, Direct, "§3.3, §3.7, §3.8"},
	{legacy2025.MethodToolsCall, false, FromClient, FromClient, Direct, Direct, "§4.1 to §4.5, §4.17 to §4.19"},
	{legacy2025.MethodPromptsList, false, FromClient, FromClient, Passthrough, Passthrough, "§3.3"},
	{legacy2025.MethodPromptsGet, false, FromClient, FromClient, Direct, Direct, "§3.3, §4.4, §4.18"},
	{legacy2025.MethodResourcesList, false, FromClient, FromClient, Passthrough, Passthrough, "§3.3"},
	{legacy2025.MethodResourceTemplatesList, false, FromClient, FromClient, Passthrough, Passthrough, "§3.3"},
	{legacy2025.MethodResourcesRead, false, FromClient, FromClient, Direct, Direct, "§3.3, §4.4, §4.18"},
	{legacy2025.MethodResourcesSubscribe, false, FromClient, 0, Synthesized, Refused, "§3.5, §6.2"},
	{legacy2025.MethodResourcesUnsubscribe, false, FromClient, 0, Synthesized, Refused, "§3.5, §6.2"},
	{ext2026.MethodSubscriptionsListen, false, 0, FromClient, Refused, Synthesized, "§3.5, §4.24"},
	{ext2026.NotificationSubscriptionsAcknowledged, true, 0, FromServer, Consumed, Swallowed, "§3.5"},
	{legacy2025.MethodCompletionComplete, false, FromClient, FromClient, Passthrough, Passthrough, "§3.3"},
	{legacy2025.MethodLoggingSetLevel, false, FromClient, 0, Synthesized, Refused, "§3.4, §6.2"},
	{legacy2025.NotificationMessage, true, FromServer, FromServer, Direct, Direct, "§3.4"},
	{legacy2025.NotificationProgress, true, bothSides, FromServer, Direct, Direct, "G-9, §4.26"},
	{legacy2025.NotificationCancelled, true, bothSides, bothSides, Direct, Direct, "§1.7"},
	{legacy2025.NotificationToolsListChanged, true, FromServer, FromServer, Direct, Direct, "§3.5"},
	{legacy2025.NotificationPromptsListChanged, true, FromServer, FromServer, Direct, Direct, "§3.5"},
	{legacy2025.NotificationResourcesListChanged, true, FromServer, FromServer, Direct, Direct, "§3.5"},
	{legacy2025.NotificationResourcesUpdated, true, FromServer, FromServer, Direct, Direct, "§3.5"},
	{legacy2025.MethodRootsList, false, FromServer, AsEntry, Direct, Direct, "§3.3, §4.10, §4.21"},
	{legacy2025.MethodSamplingCreateMessage, false, FromServer, AsEntry, Direct, Direct, "§3.3, §4.10, §4.21"},
	{legacy2025.MethodElicitationCreate, false, FromServer, AsEntry, Direct, Direct, "§3.3, §4.10, §4.21"},
	{legacy2025.NotificationRootsListChanged, true, FromClient, 0, Swallowed, Swallowed, "§3.2, §6.2"},
	{legacy2025.NotificationElicitationComplete, true, FromServer, 0, Swallowed, Consumed, "§3.3, B-U11"},
	{legacy2025.MethodTasksGet, false, bothSides, FromClient, Direct, Direct, "§4.6, §4.20"},
	{legacy2025.MethodTasksResult, false, bothSides, 0, Synthesized, Refused, "§4.7, §6.2"},
	{legacy2025.MethodTasksList, false, bothSides, 0, Synthesized, Refused, "§4.14, §6.2"},
	{legacy2025.MethodTasksCancel, false, bothSides, FromClient, Direct, Direct, "§4.9, §4.22"},
	{ext2026.MethodTasksUpdate, false, 0, FromClient, Refused, Synthesized, "§4.10, §4.21"},
	{legacy2025.NotificationTasksStatus, true, bothSides, 0, Swallowed, Direct, "§3.2, §4.24"},
	{ext2026.NotificationTasks, true, 0, FromServer, Direct, Swallowed, "§4.16, §6.2"},
}
