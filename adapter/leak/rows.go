package leak

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

const methodToolsList = legacy2025.MethodToolsList

// cacheable are the methods whose results have cache hints in the modern era.
var cacheable = []string{
	ext2026.MethodToolsList, ext2026.MethodPromptsList, ext2026.MethodResourcesList,
	ext2026.MethodResourceTemplatesList, ext2026.MethodResourcesRead, legacy2025.MethodInitialize,
}

// asking are the methods that can be answered with a question.
var asking = []string{ext2026.MethodToolsCall, ext2026.MethodPromptsGet, ext2026.MethodResourcesRead}

// taskAnswers are the legacy methods whose result is a task.
var taskAnswers = []string{legacy2025.MethodTasksGet, legacy2025.MethodTasksCancel}

// modernTaskMembers are the members of a modern task that a legacy one must not
// have.
var modernTaskMembers = []string{"ttlMs", "pollIntervalMs", "result", "error", "inputRequests", "requestState"}

// members returns a path for each name below a place.
func members(names []string, place ...string) [][]string {
	paths := make([][]string, len(names))
	for i, name := range names {
		paths[i] = append(append([]string(nil), place...), name)
	}
	return paths
}

// at is a row's places when it has one name at several of them.
func at(name string, places ...[]string) [][]string {
	paths := make([][]string, len(places))
	for i, place := range places {
		paths[i] = append(append([]string(nil), place...), name)
	}
	return paths
}

var (
	inResult     = []string{"result"}
	inResultMeta = []string{"result", "_meta"}
	inParamsMeta = []string{"params", "_meta"}
)

// legacyTable is §6.1: what must never appear on a legacy leg.
var legacyTable = (&table{
	banned: map[string]bool{
		ext2026.MethodServerDiscover: true, ext2026.MethodSubscriptionsListen: true, ext2026.MethodTasksUpdate: true,
		ext2026.NotificationSubscriptionsAcknowledged: true, ext2026.NotificationTasks: true,
	},
	// -32042 is the legacy era's own; the rest of the range it never defined.
	foreignCode: func(code int64) bool {
		return code <= -32020 && code >= -32099 && code != legacy2025.CodeURLElicitationRequired
	},
	schemas: true,
	rows: []row{
		{rule: "resultType", at: at("resultType", inResult)},
		{rule: "cache hints", at: members([]string{"ttlMs", "cacheScope"}, "result"), methods: cacheable},
		{rule: "supportedVersions", at: at("supportedVersions", inResult), methods: []string{legacy2025.MethodInitialize}},
		{rule: "questions", at: members([]string{"inputRequests", "requestState"}, "result"), methods: asking},
		{rule: "answers", at: members([]string{"inputResponses", "requestState"}, "params"), methods: asking},
		{rule: "envelope", reserved: true, at: append(
			members([]string{wire.MetaProtocolVersion, wire.MetaClientInfo, wire.MetaClientCapabilities, wire.MetaLogLevel}, inResultMeta...),
			members([]string{wire.MetaProtocolVersion, wire.MetaClientInfo, wire.MetaClientCapabilities, wire.MetaLogLevel}, inParamsMeta...)...)},
		{rule: "serverInfo", reserved: true, at: at(wire.MetaServerInfo, inResultMeta, inParamsMeta)},
		{rule: "subscriptionId", reserved: true, at: at(wire.MetaSubscriptionID, inResultMeta, inParamsMeta)},
		{
			rule: "tasks extension", at: at(wire.TasksExtension, []string{"result", "capabilities", "extensions"}, []string{"params", "capabilities", "extensions"}),
			methods: []string{legacy2025.MethodInitialize},
		},
		{rule: "task members", at: members(append(modernTaskMembers, "resultType"), "result", "task"), methods: []string{legacy2025.MethodToolsCall}, beside: "taskId"},
		{rule: "task members", at: members(modernTaskMembers, "result"), methods: taskAnswers},
		{rule: "task members", at: members(modernTaskMembers, "result", "tasks", "[]"), methods: []string{legacy2025.MethodTasksList}},
		{rule: "task members", at: members(append(modernTaskMembers, "resultType"), "params"), methods: []string{legacy2025.NotificationTasksStatus}},
	},
}).compile()

// modernTable is §6.2: what must never appear on a modern leg.
var modernTable = (&table{
	banned: map[string]bool{
		legacy2025.MethodInitialize: true, legacy2025.MethodPing: true, legacy2025.MethodLoggingSetLevel: true,
		legacy2025.MethodResourcesSubscribe: true, legacy2025.MethodResourcesUnsubscribe: true,
		legacy2025.MethodTasksResult: true, legacy2025.MethodTasksList: true,
		legacy2025.MethodRootsList: true, legacy2025.MethodSamplingCreateMessage: true, legacy2025.MethodElicitationCreate: true,
		legacy2025.NotificationInitialized: true, legacy2025.NotificationRootsListChanged: true,
		legacy2025.NotificationElicitationComplete: true, legacy2025.NotificationTasksStatus: true,
	},
	foreignCode: func(code int64) bool {
		return code == legacy2025.CodeResourceNotFound || code == legacy2025.CodeURLElicitationRequired
	},
	rows: []row{
		{rule: "task", at: at("task", []string{"params"})},
		{rule: "created task", at: [][]string{{"result", "task"}}, methods: []string{ext2026.MethodToolsCall}, holding: "taskId"},
		{rule: "related-task", reserved: true, at: at(wire.MetaRelatedTask, inResultMeta, inParamsMeta)},
		{rule: "immediate response", reserved: true, at: at(wire.MetaImmediateResponse, inResultMeta, inParamsMeta)},
		{rule: "tasks capability", at: append(
			at("tasks", []string{"params", "_meta", wire.MetaClientCapabilities}),
			[]string{"result", "capabilities", "tasks"})},
		{rule: "roots.listChanged", at: [][]string{{"params", "_meta", wire.MetaClientCapabilities, "roots", "listChanged"}}},
		{rule: "execution", at: [][]string{{"result", "tools", "[]", "execution"}}, methods: []string{ext2026.MethodToolsList}},
		{rule: "task members", at: members([]string{"ttl", "pollInterval"}, "result"), methods: []string{ext2026.MethodTasksGet, ext2026.MethodToolsCall}, beside: "taskId"},
		{rule: "task members", at: members([]string{"ttl", "pollInterval"}, "params"), methods: []string{ext2026.NotificationTasks}},
		{rule: "question members", at: members([]string{"_meta", "task", "elicitationId"}, "result", "inputRequests", "*", "params")},
		{rule: "question envelope", at: members([]string{"jsonrpc", "id"}, "result", "inputRequests", "*")},
		{rule: "answer _meta", at: [][]string{{"params", "inputResponses", "*", "_meta"}}},
	},
}).compile()

// What stays of the tables between two peers of one era (S-3): each of them may
// have a member of its own that is called as one of the other era.
var (
	legacyOwnTable = legacyTable.own()
	modernOwnTable = modernTable.own()
)
