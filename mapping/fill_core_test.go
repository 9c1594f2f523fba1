package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// complete is the resultType of the results below.
var complete = map[string]string{"resultType": `"complete"`}

// coreMessages are the messages that are not about tasks, both ways.
var coreMessages = []message{
	downResult("ListToolsResult", ext2026.MethodToolsList, 3, hints),
	downResult("ListPromptsResult", ext2026.MethodPromptsList, 2, hints),
	downResult("ListResourcesResult", ext2026.MethodResourcesList, 2, hints),
	downResult("ListResourceTemplatesResult", ext2026.MethodResourceTemplatesList, 2, hints),
	downResult("ReadResourceResult", ext2026.MethodResourcesRead, 2, hints),
	downResult("GetPromptResult", ext2026.MethodPromptsGet, 5, nil),
	downResult("CompleteResult", ext2026.MethodCompletionComplete, 1, nil),
	downResult("CallToolResult", ext2026.MethodToolsCall, 2, nil),
	downResult("Result", "com.acme/x", 1, nil),
	upResult("ListToolsResult", legacy2025.MethodToolsList, 3, map[string]mapping.Note{"tools[0].execution": mapping.NoteExecution}),
	upResult("ListPromptsResult", legacy2025.MethodPromptsList, 2, nil),
	upResult("ListResourcesResult", legacy2025.MethodResourcesList, 2, nil),
	upResult("ListResourceTemplatesResult", legacy2025.MethodResourceTemplatesList, 2, nil),
	upResult("ReadResourceResult", legacy2025.MethodResourcesRead, 2, nil),
	upResult("GetPromptResult", legacy2025.MethodPromptsGet, 5, nil),
	upResult("CompleteResult", legacy2025.MethodCompletionComplete, 1, nil),
	upResult("CallToolResult", legacy2025.MethodToolsCall, 2, nil),
	upResult("Result", "com.acme/x", 1, nil),

	downParams("CallToolRequestParams", ext2026.MethodToolsCall, true),
	downParams("GetPromptRequestParams", ext2026.MethodPromptsGet, true),
	downParams("ReadResourceRequestParams", ext2026.MethodResourcesRead, true),
	downParams("CompleteRequestParams", ext2026.MethodCompletionComplete, false),
	downParams("PaginatedRequestParams", ext2026.MethodToolsList, false),
	upParams("CallToolRequestParams", legacy2025.MethodToolsCall, map[string]mapping.Note{"task": mapping.NoteTaskMember}),
	upParams("GetPromptRequestParams", legacy2025.MethodPromptsGet, nil),
	upParams("ReadResourceRequestParams", legacy2025.MethodResourcesRead, nil),
	upParams("CompleteRequestParams", legacy2025.MethodCompletionComplete, nil),
	upParams("PaginatedRequestParams", legacy2025.MethodToolsList, nil),

	notification("ext2026", "NotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendDownNotification(nil, ext2026.NotificationToolsListChanged, in)
	}),
	notification("ext2026", "ResourceUpdatedNotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendDownNotification(nil, ext2026.NotificationResourcesUpdated, in)
	}),
	notification("ext2026", "LoggingMessageNotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendDownLog(nil, in, "debug")
	}),
	notification("ext2026", "ProgressNotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendDownProgress(nil, in, "1")
	}, "progressToken"),
	notification("ext2026", "CancelledNotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendDownCancelled(nil, in, "1")
	}, "requestId"),
	notification("legacy2025", "NotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendUpNotification(nil, legacy2025.NotificationToolsListChanged, in, "")
	}),
	notification("legacy2025", "ResourceUpdatedNotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendUpNotification(nil, legacy2025.NotificationResourcesUpdated, in, "7")
	}),
	notification("legacy2025", "LoggingMessageNotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendUpLog(nil, in, "debug")
	}),
	notification("legacy2025", "ProgressNotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendUpProgress(nil, in, "1")
	}, "progressToken"),
	notification("legacy2025", "CancelledNotificationParams", func(in wire.Value) ([]byte, mapping.Notes, error) {
		return mapping.AppendUpCancelled(nil, in, "1")
	}, "requestId"),

	{
		name: "server/discover result", era: "ext2026", typ: "DiscoverResult", variants: 2,
		values: map[string]string{"resultType": `"complete"`, "supportedVersions": `["2026-07-28"]`},
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			discovered, err := ext2026.ParseDiscoverResult(in)
			if err != nil {
				t.Fatal(err)
			}
			out, notes, err := mapping.AppendDownInitialize(nil, discovered, mapping.InitializeOptions{CanListen: true, Tasks: true})
			return must(t, out, notes, err)
		},
		lost: map[string]mapping.Note{
			"supportedVersions": mapping.NoteVersions, "ttlMs": mapping.NoteCacheHints, "cacheScope": mapping.NoteCacheHints,
		},
		consumed: map[string]string{"resultType": "§3.1"},
	},
	{
		name: "initialize result", era: "legacy2025", typ: "InitializeResult", variants: 2,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			initialized, err := legacy2025.ParseInitializeResult(in)
			if err != nil {
				t.Fatal(err)
			}
			out, notes, err := mapping.AppendUpDiscover(nil, initialized, mapping.DiscoverOptions{CanListen: true})
			return must(t, out, notes, err)
		},
		lost:     map[string]mapping.Note{"capabilities.tasks": mapping.NoteTasksCapability},
		consumed: map[string]string{"protocolVersion": "B-L4"},
	},
	{
		name: "initialize params", era: "legacy2025", typ: "InitializeRequestParams", variants: 2,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			capabilities, notes, err := mapping.AppendUpClientCapabilities(nil, in.Get("capabilities"), legacy2025.Latest,
				mapping.UpCapabilities{Tasks: true, Questions: true})
			must(t, capabilities, notes, err)
			out, more, err := mapping.AppendUpParams(nil, legacy2025.MethodToolsList, "",
				mapping.Envelope{ClientInfo: in.Get("clientInfo"), Capabilities: wire.Value(capabilities)})
			return must(t, out, notes|more, err)
		},
		lost: map[string]mapping.Note{
			"capabilities.tasks": mapping.NoteTasksCapability, "capabilities.roots.listChanged": mapping.NoteRootsListChanged,
		},
		consumed: map[string]string{"protocolVersion": "A-L2", "_meta": "§1.2: initialize is answered by the bridge"},
	},
	{
		name: "client capabilities", era: "ext2026", typ: "ClientCapabilities",
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendDownClientCapabilities(nil, in, legacy2025.Latest)
			return must(t, out, notes, err)
		},
	},
	{
		name: "subscriptions/listen params", era: "ext2026", typ: "SubscriptionsListenRequestParams", variants: 2,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			listen, err := ext2026.ParseListenParams(in)
			if err != nil {
				t.Fatal(err)
			}
			return must(t, mapping.AppendUpAcknowledged(nil, listen.Filter, "7"), 0, nil)
		},
		consumed: map[string]string{"_meta": "§3.6"},
	},
	filter("TaskSubscriptionNotifications"),
	filter("TaskSubscriptionAcknowledgedNotifications"),
	{
		name: "an error", era: "ext2026", typ: "Error",
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			return must(t, jsonrpc.AppendErrorObject(nil, mapping.DownError("tools/call", "", rpcError(t, in))), 0, nil)
		},
	},
	{
		name: "an error", era: "legacy2025", typ: "Error",
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			return must(t, jsonrpc.AppendErrorObject(nil, mapping.UpError("tools/call", rpcError(t, in))), 0, nil)
		},
	},
	modernError("InternalError"),
	modernError("InvalidParamsError"),
	modernError("InvalidRequestError"),
	modernError("MethodNotFoundError"),
	modernError("ParseError"),
	modernError("HeaderMismatchError.error", "data"),
	modernError("UnsupportedProtocolVersionError.error", "data"),
	modernError("MissingRequiredClientCapabilityError.error", "message", "data"),
}

// hints are the losses of a result that says how long it may be kept.
var hints = map[string]mapping.Note{"ttlMs": mapping.NoteCacheHints, "cacheScope": mapping.NoteCacheHints}

func downResult(typ, method string, variants int, lost map[string]mapping.Note) message {
	return message{
		name: method + " result", era: "ext2026", typ: typ, variants: variants, values: complete, lost: lost,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendDownResult(nil, method, modernResult(t, method, in), mapping.ResultOptions{Tasks: true})
			return must(t, out, notes, err)
		},
		consumed: map[string]string{"resultType": "§3.1", serverInfoPath: "§3.6"},
	}
}

func upResult(typ, method string, variants int, lost map[string]mapping.Note) message {
	return message{
		name: method + " result", era: "legacy2025", typ: typ, variants: variants, lost: lost,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendUpResult(nil, method, in, mapping.UpResultOptions{})
			return must(t, out, notes, err)
		},
	}
}

// downParams are the params of a request that a modern client makes. retry says
// that they may answer questions.
func downParams(typ, method string, retry bool) message {
	m := message{
		name: method + " params", era: "ext2026", typ: typ, variants: 2,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendDownParams(nil, method, in, mapping.DownEnvelope{})
			return must(t, out, notes, err)
		},
		consumed: map[string]string{"_meta": "§3.6, G-9"},
	}
	if retry {
		m.consumed["inputResponses"], m.consumed["requestState"] = "§4.18", "§4.18"
	}
	return m
}

func upParams(typ, method string, lost map[string]mapping.Note) message {
	return message{
		name: method + " params", era: "legacy2025", typ: typ, variants: 2, lost: lost,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := mapping.AppendUpParams(nil, method, in, mapping.Envelope{})
			return must(t, out, notes, err)
		},
		consumed: map[string]string{"_meta.progressToken": "G-9"},
	}
}

// notification is a notification of both eras. consumed are paths that the bridge
// translates by a table of its own.
func notification(era, typ string, cross func(wire.Value) ([]byte, mapping.Notes, error), consumed ...string) message {
	m := message{
		name: typ, era: era, typ: typ, variants: 3,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			out, notes, err := cross(in)
			return must(t, out, notes, err)
		},
		consumed: map[string]string{},
	}
	if era == "ext2026" {
		m.consumed[subscriptionPath] = "§3.5"
	}
	for _, path := range consumed {
		m.consumed[path] = "G-9, G-10"
	}
	return m
}

func filter(typ string) message {
	return message{
		name: typ, era: "ext2026", typ: typ,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			f, err := ext2026.ParseSubscriptionFilter(in, "params.notifications")
			if err != nil {
				t.Fatal(err)
			}
			return must(t, mapping.AppendUpListen(nil, f, mapping.Envelope{}), 0, nil)
		},
	}
}

// modernError is an error that the modern revision defines. consumed are members
// that only that revision understands.
func modernError(typ string, consumed ...string) message {
	m := message{
		name: typ, era: "ext2026", typ: typ,
		cross: func(t testing.TB, in wire.Value) ([]byte, mapping.Notes) {
			return must(t, jsonrpc.AppendErrorObject(nil, mapping.DownError("tools/call", "", rpcError(t, in))), 0, nil)
		},
		consumed: map[string]string{},
	}
	for _, path := range consumed {
		m.consumed[path] = "§1.6"
	}
	return m
}

func rpcError(t testing.TB, in wire.Value) *jsonrpc.Error {
	t.Helper()
	failure, err := jsonrpc.ParseError(in, "error")
	if err != nil {
		t.Fatal(err)
	}
	return failure
}

// unfilled are types that no message is filled from, with the reason. Envelopes,
// which have jsonrpc, are left to package jsonrpc and not listed.
var unfilled = map[string]map[string]string{
	"legacy2025": {
		"BaseMetadata":                           base,
		"ElicitationCompleteNotification.params": "§3.3: consumed",
		"EmptyResult":                            base,
		"EnumSchema":                             union,
		"Cursor":                                 base,
		"ElicitRequestParams":                    union,
		"Icons":                                  base,
		"MultiSelectEnumSchema":                  union,
		"Notification":                           base,
		"PaginatedResult":                        base,
		"RelatedTaskMetadata":                    "§3.6: set and consumed by the bridge",
		"Request":                                base,
		"ResourceContents":                       base,
		"ResourceRequestParams":                  base,
		"ResourceRequestParams._meta":            base,
		"SetLevelRequestParams":                  "§3.4: answered by the bridge",
		"SetLevelRequestParams._meta":            "§3.4: answered by the bridge",
		"SingleSelectEnumSchema":                 union,
		"SubscribeRequestParams":                 "§3.5: answered by the bridge",
		"SubscribeRequestParams._meta":           "§3.5: answered by the bridge",
		"UnsubscribeRequestParams":               "§3.5: answered by the bridge",
		"UnsubscribeRequestParams._meta":         "§3.5: answered by the bridge",
	},
	"ext2026": {
		"BaseMetadata":               base,
		"CacheableResult":            base,
		"CancelTaskResult":           "§4.9: an acknowledgement, consumed",
		"Cursor":                     base,
		"EmptyResult":                base,
		"EnumSchema":                 union,
		"Icons":                      base,
		"InputRequiredResult":        "§4.4, §4.5: consumed; its questions are filled in a task",
		"InputResponseRequestParams": base,
		"JSONArray":                  base,
		"JSONValue":                  base,
		"MultiSelectEnumSchema":      union,
		"Notification":               base,
		"PaginatedResult":            base,
		"Request":                    base,
		"RequestParams":              base,
		"ResourceContents":           base,
		"ResourceRequestParams":      base,
		"ResultType":                 base,
		"SingleSelectEnumSchema":     union,
		"SubscriptionsAcknowledgedNotificationParams": "§3.5: consumed",
		"SubscriptionsListenResult":                   "§3.5: consumed",
		"SubscriptionsListenResultMetaObject":         "§3.5: consumed",
		"Task":                                        base,
		"TasksExtensionCapability":                    "§2.1: any object counts",
		"UpdateTaskResult":                            "A-I6: an acknowledgement, consumed",
	},
}

const (
	base  = "a base of other types, or a plain value"
	union = "a union whose members are filled"
)
