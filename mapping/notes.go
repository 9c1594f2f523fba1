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
	// NoteRootsListChanged: the modern era has no changes of roots.
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
	// NoteOlderRevision: members that the client's revision does not know.
	NoteOlderRevision
	// NoteLinkAsText: a resource link is told as text to an older client.
	NoteLinkAsText

	noteCount // the number of notes; stays last
)

var noteTexts = [noteCount]string{
	NoteCacheHints:        "ttlMs, cacheScope: dropped, the legacy era has no cache hints",
	NoteVersions:          "supportedVersions: dropped, the version is negotiated by the bridge",
	NoteNoChanges:         "listChanged, subscribe: not offered, changes cannot be delivered",
	NoteTasksCapability:   "tasks: not offered on",
	NoteRootsListChanged:  "roots.listChanged: dropped, the modern era asks anew each time",
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
	NoteOlderRevision:     "dropped members that the client's revision does not know",
	NoteLinkAsText:        "content: resource link told as text",
}

// String returns the note's line: the member, then what became of it.
func (n Note) String() string {
	if n >= noteCount {
		return "unknown note"
	}
	return noteTexts[n]
}
