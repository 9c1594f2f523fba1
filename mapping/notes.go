package mapping

// Note is one kind of tolerated loss.
type Note uint8

// The losses that a translation tolerates.
const (
	// NoteCacheHints: ttlMs and cacheScope have no place in the legacy era.
	NoteCacheHints Note = iota
	// NoteVersions: supportedVersions stops at the bridge.
	NoteVersions
	// NoteNoChanges: listChanged or subscribe is not offered, for want of a way
	// to deliver the changes.
	NoteNoChanges
	// NoteTasksCapability: a tasks capability or extension is not offered on.
	NoteTasksCapability
	// NoteRootsListChanged: changes of roots cross neither way.
	NoteRootsListChanged
	// NoteUnrelayed: a capability that the bridge or the revision cannot relay.
	NoteUnrelayed
	// NoteTaskMember: params.task has no place in the modern era.
	NoteTaskMember
	// NoteForgedRetry: inputResponses or requestState of a legacy client.
	NoteForgedRetry
	// NoteReservedMeta: a _meta key that this peer may not set here.
	NoteReservedMeta
	// NoteForeignTask: a result member that looks like a legacy task.
	NoteForeignTask
	// NoteStrayMember: a member of the other era that means nothing here.
	NoteStrayMember
	// NoteCursor: a cursor is told under an alias.
	NoteCursor
	// NoteToolDropped: a tool with an illegal x-mcp-header is not listed.
	NoteToolDropped
	// NoteHeaderAnnotation: x-mcp-header leaves the schema.
	NoteHeaderAnnotation
	// NoteExecution: a tool's execution stops at the bridge.
	NoteExecution
	// NoteBooleanSchema: a boolean subschema is spelled as an object.
	NoteBooleanSchema
	// NoteRootType: an input schema gets its root type.
	NoteRootType
	// NoteOutputWrapped: an output schema is wrapped in an object.
	NoteOutputWrapped
	// NoteOutputOmitted: an output schema cannot be wrapped and is omitted.
	NoteOutputOmitted
	// NoteStructuredWrapped: structured content is wrapped in an object.
	NoteStructuredWrapped
	// NoteTextAdded: structured content is repeated as a text block.
	NoteTextAdded
	// NoteValuesCut: a completion has more values than the modern era allows.
	NoteValuesCut
	// NoteOlderRevision: members that the peer's revision does not know.
	NoteOlderRevision
	// NoteLinkAsText: a resource link is told as text to an older client.
	NoteLinkAsText
	// NoteResult: the result of a task leaves the task object.
	NoteResult
	// NoteError: the error of a task leaves the task object.
	NoteError
	// NoteInputRequests: the questions of a task leave the task object.
	NoteInputRequests
	// NoteToolError: a tool error moves a task between failed and completed.
	NoteToolError
	// NoteStatus: a task is shown with a status that fits the other era.
	NoteStatus
	// NoteStatusMessage: statusMessage is made from the outcome.
	NoteStatusMessage
	// NoteTTL: the retention is rounded, or unlimited for want of a number.
	NoteTTL
	// NotePollInterval: the pace is rounded, or left out for want of a number.
	NotePollInterval
	// NoteTimestamp: a timestamp is rewritten or replaced.
	NoteTimestamp
	// NoteImmediateResponse: model-immediate-response becomes statusMessage or goes.
	NoteImmediateResponse
	// NoteTaskContent: the result of a tool beside a task, which wins.
	NoteTaskContent
	// NoteTaskFields: the acknowledgement of a cancellation carries no task.
	NoteTaskFields
	// NoteMadeError: an error is made for a task that failed without one.
	NoteMadeError
	// NoteErrorCode: an error code of the other era is replaced.
	NoteErrorCode
	// NoteElicitationID: elicitationId is the business of the bridge.
	NoteElicitationID
	// NoteQuestionMeta: _meta of a question or of its answer.
	NoteQuestionMeta
	// NoteAnswerContent: content of an answer that may have none.
	NoteAnswerContent
	// NoteQuestionForm: a question is rewritten for an older revision.
	NoteQuestionForm

	noteCount // the number of notes; stays last
)

var noteTexts = [noteCount]string{
	NoteCacheHints:        "ttlMs, cacheScope: dropped, the legacy era has no cache hints",
	NoteVersions:          "supportedVersions: dropped, the version is negotiated by the bridge",
	NoteNoChanges:         "listChanged, subscribe: not offered, changes cannot be delivered",
	NoteTasksCapability:   "tasks: not offered on",
	NoteRootsListChanged:  "roots.listChanged: dropped, changes of roots cross neither way",
	NoteUnrelayed:         "capabilities: dropped what cannot be relayed",
	NoteTaskMember:        "task: dropped, the server decides",
	NoteForgedRetry:       "inputResponses, requestState: dropped, no legacy client has them",
	NoteReservedMeta:      "_meta: dropped a reserved key that is not the sender's to set",
	NoteForeignTask:       "task: dropped, it is no task in this era",
	NoteStrayMember:       "dropped a member of the other era that means nothing here",
	NoteCursor:            "nextCursor: told under an alias",
	NoteToolDropped:       "tools: dropped a tool with an illegal x-mcp-header",
	NoteHeaderAnnotation:  "x-mcp-header: removed from the schema",
	NoteExecution:         "execution: replaced or dropped",
	NoteBooleanSchema:     "schema: boolean subschema spelled as an object",
	NoteRootType:          "inputSchema: root type added",
	NoteOutputWrapped:     "outputSchema: wrapped in an object",
	NoteOutputOmitted:     "outputSchema: omitted, its references cannot be moved",
	NoteStructuredWrapped: "structuredContent: wrapped in an object",
	NoteTextAdded:         "content: structured content repeated as text",
	NoteValuesCut:         "completion.values: cut to 100",
	NoteOlderRevision:     "dropped members that the peer's revision does not know",
	NoteLinkAsText:        "content: resource link told as text",
	NoteResult:            "result: detached, served by tasks/result",
	NoteError:             "error: detached, served by tasks/result",
	NoteInputRequests:     "inputRequests: detached, asked as requests",
	NoteToolError:         "status: a failed tool is failed in 2025-11-25, completed in 2026-07-28",
	NoteStatus:            "status: told differently",
	NoteStatusMessage:     "statusMessage: made from the outcome",
	NoteTTL:               "ttl: rounded, or unlimited for want of a number",
	NotePollInterval:      "pollInterval: rounded, or left out for want of a number",
	NoteTimestamp:         "createdAt, lastUpdatedAt: rewritten",
	NoteImmediateResponse: "model-immediate-response: told as statusMessage if there is none",
	NoteTaskContent:       "content: dropped, the answer is a task",
	NoteTaskFields:        "task: left out of the acknowledgement",
	NoteMadeError:         "error: made by the bridge, the task has none",
	NoteErrorCode:         "error: code replaced",
	NoteElicitationID:     "elicitationId: kept by the bridge",
	NoteQuestionMeta:      "_meta: dropped from a question or an answer",
	NoteAnswerContent:     "content: dropped from an answer that may have none",
	NoteQuestionForm:      "question: rewritten for the client's revision",
}

// String returns the note's line: the member, then what became of it.
func (n Note) String() string {
	if n >= noteCount {
		return "unknown note"
	}
	return noteTexts[n]
}
