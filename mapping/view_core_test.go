package mapping_test

import (
	"strings"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// init adds the views of what is not about tasks.
func init() {
	views = append(views, legacyViews...)
	views = append(views, modernViews...)
}

// fields are the members of a view, with what its own accessors say of them.
func fields(obj wire.Object, decoded map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range obj.Members() {
		out[m.Name] = string(m.Value)
	}
	for name, value := range decoded {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

// loose are the members of a view that keeps its source whole.
func loose(v wire.Value, decoded map[string]string) map[string]string {
	obj, err := wire.ParseObject(v, "")
	if err != nil {
		return nil
	}
	return fields(obj, decoded)
}

var legacyViews = []view{
	{era: "legacy2025", typ: "InitializeRequestParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := legacy2025.ParseInitializeParams(in)
		return fields(p.Object, map[string]string{
			"protocolVersion": p.ProtocolVersion, "capabilities": string(p.Capabilities), "clientInfo": string(p.ClientInfo),
		}), err
	}},
	{era: "legacy2025", typ: "InitializeResult", read: func(in wire.Value) (map[string]string, error) {
		r, err := legacy2025.ParseInitializeResult(in)
		return fields(r.Object, map[string]string{
			"protocolVersion": r.ProtocolVersion, "capabilities": string(r.Capabilities.Raw()), "serverInfo": string(r.ServerInfo),
			"instructions": string(r.Instructions),
		}), err
	}},
	{era: "legacy2025", typ: "Implementation", read: func(in wire.Value) (map[string]string, error) {
		i, err := legacy2025.ParseImplementation(in, "")
		return loose(i.Raw, map[string]string{"name": i.Name, "version": i.Version}), err
	}},
	{era: "legacy2025", typ: "ServerCapabilities", read: func(in wire.Value) (map[string]string, error) {
		c, err := legacy2025.ParseServerCapabilities(in, "")
		return fields(c.Object, nil), err
	}},
	{era: "legacy2025", typ: "ClientCapabilities", read: func(in wire.Value) (map[string]string, error) {
		c, err := legacy2025.ParseClientCapabilities(in, "")
		return fields(c.Object, nil), err
	}},
	{era: "legacy2025", typ: "Tool", read: func(in wire.Value) (map[string]string, error) {
		tool, err := legacy2025.ParseTool(in, "")
		return loose(tool.Raw, map[string]string{
			"name": tool.Name, "inputSchema": string(tool.InputSchema), "outputSchema": string(tool.OutputSchema), "execution": string(tool.Execution),
		}), err
	}},
	{era: "legacy2025", typ: "CallToolRequestParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := legacy2025.ParseCallToolParams(in)
		return fields(p.Object, map[string]string{"name": p.Name, "arguments": string(p.Arguments)}), err
	}},
	{
		era: "legacy2025", typ: "CallToolResult", lenient: map[string]string{"content": "servers leave it out beside structuredContent"},
		read: func(in wire.Value) (map[string]string, error) {
			r, err := legacy2025.ParseCallToolResult(in)
			return fields(r.Object, map[string]string{
				"content": string(r.Content), "structuredContent": string(r.StructuredContent), "isError": flag(in, "isError", r.IsError),
			}), err
		},
	},
	{era: "legacy2025", typ: "GetPromptRequestParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := legacy2025.ParseGetPromptParams(in)
		return fields(p.Object, map[string]string{"name": p.Name, "arguments": string(p.Arguments)}), err
	}},
	{era: "legacy2025", typ: "GetPromptResult", read: func(in wire.Value) (map[string]string, error) {
		r, err := legacy2025.ParseGetPromptResult(in)
		return fields(r.Object, map[string]string{"messages": string(r.Messages)}), err
	}},
	{era: "legacy2025", typ: "ReadResourceRequestParams", read: readLegacyResource},
	{era: "legacy2025", typ: "SubscribeRequestParams", read: readLegacyResource},
	{era: "legacy2025", typ: "UnsubscribeRequestParams", read: readLegacyResource},
	{era: "legacy2025", typ: "ResourceUpdatedNotificationParams", read: readLegacyResource},
	{era: "legacy2025", typ: "ReadResourceResult", read: func(in wire.Value) (map[string]string, error) {
		r, err := legacy2025.ParseReadResourceResult(in)
		return fields(r.Object, map[string]string{"contents": string(r.Contents)}), err
	}},
	{era: "legacy2025", typ: "CompleteRequestParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := legacy2025.ParseCompleteParams(in)
		return fields(p.Object, map[string]string{"ref": string(p.Ref), "argument": string(p.Argument), "context": string(p.Context)}), err
	}},
	{era: "legacy2025", typ: "CompleteResult", read: func(in wire.Value) (map[string]string, error) {
		r, err := legacy2025.ParseCompleteResult(in)
		return fields(r.Object, map[string]string{"completion": string(r.Completion)}), err
	}},
	{era: "legacy2025", typ: "PaginatedRequestParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := legacy2025.ParseListParams(in)
		return fields(p.Object, map[string]string{"cursor": string(p.Cursor)}), err
	}},
	legacyList("ListToolsResult", legacy2025.MethodToolsList),
	legacyList("ListPromptsResult", legacy2025.MethodPromptsList),
	legacyList("ListResourcesResult", legacy2025.MethodResourcesList),
	legacyList("ListResourceTemplatesResult", legacy2025.MethodResourceTemplatesList),
	{era: "legacy2025", typ: "SetLevelRequestParams", read: func(in wire.Value) (map[string]string, error) {
		level, err := legacy2025.ParseSetLevelParams(in)
		return loose(in, map[string]string{"level": string(level)}), err
	}},
	{era: "legacy2025", typ: "LoggingMessageNotificationParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := legacy2025.ParseLogParams(in)
		return fields(p.Object, map[string]string{"level": string(p.Level), "data": string(p.Data)}), err
	}},
	{era: "legacy2025", typ: "ProgressNotificationParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := legacy2025.ParseProgressParams(in)
		return fields(p.Object, map[string]string{"progressToken": string(p.Token), "progress": string(p.Progress)}), err
	}},
	{era: "legacy2025", typ: "CancelledNotificationParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := legacy2025.ParseCancelledParams(in)
		return fields(p.Object, map[string]string{"requestId": string(p.RequestID), "reason": p.Reason}), err
	}},
}

func readLegacyResource(in wire.Value) (map[string]string, error) {
	p, err := legacy2025.ParseResourceParams(in)
	return fields(p.Object, map[string]string{"uri": p.URI}), err
}

func legacyList(typ, method string) view {
	return view{era: "legacy2025", typ: typ, read: func(in wire.Value) (map[string]string, error) {
		r, err := legacy2025.ParseListResult(method, in)
		return fields(r.Object, map[string]string{legacy2025.ItemsMember(method): string(r.Items), "nextCursor": string(r.NextCursor)}), err
	}}
}

// flag spells a boolean member, or nothing when it is absent.
func flag(in wire.Value, name string, value bool) string {
	switch {
	case !in.Get(name).Present():
		return ""
	case value:
		return "true"
	default:
		return "false"
	}
}

// Required members that other views of the same message read.
var (
	otherwiseType  = map[string]string{"resultType": "G-15: absent means complete, read by ParseResult"}
	otherwiseHints = map[string]string{
		"resultType": otherwiseType["resultType"], "ttlMs": "read by CacheHints", "cacheScope": "read by CacheHints",
	}
	otherwiseMeta = map[string]string{"_meta": "read by ParseRequestMeta"}
)

var modernViews = []view{
	{
		era: "ext2026", typ: "DiscoverResult", lenient: otherwiseHints, values: map[string]string{"resultType": `"complete"`},
		read: func(in wire.Value) (map[string]string, error) {
			r, err := ext2026.ParseDiscoverResult(in)
			versions := ""
			if err == nil {
				versions = `["` + strings.Join(r.SupportedVersions, `","`) + `"]`
			}
			return fields(r.Object, map[string]string{
				"supportedVersions": versions, "capabilities": string(r.Capabilities.Raw()), "instructions": string(r.Instructions),
			}), err
		},
	},
	{era: "ext2026", typ: "Implementation", read: func(in wire.Value) (map[string]string, error) {
		i, err := ext2026.ParseImplementation(in, "")
		return loose(i.Raw, map[string]string{"name": i.Name, "version": i.Version}), err
	}},
	{era: "ext2026", typ: "ServerCapabilities", read: func(in wire.Value) (map[string]string, error) {
		c, err := ext2026.ParseServerCapabilities(in, "")
		return fields(c.Object, nil), err
	}},
	{era: "ext2026", typ: "ClientCapabilities", read: func(in wire.Value) (map[string]string, error) {
		c, err := ext2026.ParseClientCapabilities(in, "")
		return fields(c.Object, nil), err
	}},
	{era: "ext2026", typ: "RequestMetaObject", read: func(in wire.Value) (map[string]string, error) {
		m, err := ext2026.ParseRequestMeta(`{"_meta":` + in + `}`)
		return fields(m.Object, map[string]string{
			wire.MetaProtocolVersion: m.ProtocolVersion, wire.MetaClientInfo: string(m.ClientInfo), wire.MetaLogLevel: string(m.LogLevel),
			wire.MetaClientCapabilities: string(m.Capabilities.Raw()), wire.MetaProgressToken: string(m.ProgressToken),
		}), err
	}},
	{era: "ext2026", typ: "Tool", read: func(in wire.Value) (map[string]string, error) {
		tool, err := ext2026.ParseTool(in, "")
		return loose(tool.Raw, map[string]string{
			"name": tool.Name, "inputSchema": string(tool.InputSchema), "outputSchema": string(tool.OutputSchema),
		}), err
	}},
	{era: "ext2026", typ: "CallToolRequestParams", lenient: otherwiseMeta, read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseCallToolParams(in)
		return fields(p.Object, retried(p.Retry, map[string]string{"name": p.Name, "arguments": string(p.Arguments)})), err
	}},
	{
		era: "ext2026", typ: "CallToolResult",
		lenient: map[string]string{"content": "servers leave it out beside structuredContent", "resultType": otherwiseType["resultType"]},
		read: func(in wire.Value) (map[string]string, error) {
			r, err := ext2026.ParseCallToolResult(in)
			return fields(r.Object, map[string]string{
				"content": string(r.Content), "structuredContent": string(r.StructuredContent), "isError": flag(in, "isError", r.IsError),
			}), err
		},
	},
	{era: "ext2026", typ: "GetPromptRequestParams", lenient: otherwiseMeta, read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseGetPromptParams(in)
		return fields(p.Object, retried(p.Retry, map[string]string{"name": p.Name, "arguments": string(p.Arguments)})), err
	}},
	{era: "ext2026", typ: "GetPromptResult", lenient: otherwiseType, read: func(in wire.Value) (map[string]string, error) {
		r, err := ext2026.ParseGetPromptResult(in)
		return fields(r.Object, map[string]string{"messages": string(r.Messages)}), err
	}},
	{era: "ext2026", typ: "ReadResourceRequestParams", lenient: otherwiseMeta, read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseReadResourceParams(in)
		return fields(p.Object, retried(p.Retry, map[string]string{"uri": p.URI})), err
	}},
	{era: "ext2026", typ: "ReadResourceResult", lenient: otherwiseHints, read: func(in wire.Value) (map[string]string, error) {
		r, err := ext2026.ParseReadResourceResult(in)
		return fields(r.Object, map[string]string{"contents": string(r.Contents)}), err
	}},
	{era: "ext2026", typ: "ResourceUpdatedNotificationParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseResourceUpdatedParams(in)
		return fields(p.Object, map[string]string{"uri": p.URI}), err
	}},
	{era: "ext2026", typ: "CompleteRequestParams", lenient: otherwiseMeta, read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseCompleteParams(in)
		return fields(p.Object, map[string]string{"ref": string(p.Ref), "argument": string(p.Argument), "context": string(p.Context)}), err
	}},
	{era: "ext2026", typ: "CompleteResult", lenient: otherwiseType, read: func(in wire.Value) (map[string]string, error) {
		r, err := ext2026.ParseCompleteResult(in)
		return fields(r.Object, map[string]string{"completion": string(r.Completion)}), err
	}},
	{era: "ext2026", typ: "PaginatedRequestParams", lenient: otherwiseMeta, read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseListParams(in)
		return fields(p.Object, map[string]string{"cursor": string(p.Cursor)}), err
	}},
	modernList("ListToolsResult", ext2026.MethodToolsList),
	modernList("ListPromptsResult", ext2026.MethodPromptsList),
	modernList("ListResourcesResult", ext2026.MethodResourcesList),
	modernList("ListResourceTemplatesResult", ext2026.MethodResourceTemplatesList),
	{era: "ext2026", typ: "LoggingMessageNotificationParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseLogParams(in)
		return fields(p.Object, map[string]string{"level": string(p.Level), "data": string(p.Data)}), err
	}},
	{era: "ext2026", typ: "ProgressNotificationParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseProgressParams(in)
		return fields(p.Object, map[string]string{"progressToken": string(p.Token), "progress": string(p.Progress)}), err
	}},
	{era: "ext2026", typ: "CancelledNotificationParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseCancelledParams(in)
		return fields(p.Object, map[string]string{"requestId": string(p.RequestID), "reason": p.Reason}), err
	}},
	{era: "ext2026", typ: "SubscriptionsListenRequestParams", lenient: otherwiseMeta, read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseListenParams(in)
		return fields(p.Object, nil), err
	}},
	{era: "ext2026", typ: "SubscriptionsAcknowledgedNotificationParams", read: func(in wire.Value) (map[string]string, error) {
		p, err := ext2026.ParseAcknowledged(in)
		return fields(p.Object, nil), err
	}},
	{era: "ext2026", typ: "SubscriptionFilter", read: func(in wire.Value) (map[string]string, error) {
		f, err := ext2026.ParseSubscriptionFilter(in, "")
		subscribed := ""
		if f.ResourceSubscriptions != nil {
			subscribed = `["` + strings.Join(f.ResourceSubscriptions, `","`) + `"]`
		}
		return loose(in, map[string]string{
			"toolsListChanged": flag(in, "toolsListChanged", f.ToolsListChanged), "promptsListChanged": flag(in, "promptsListChanged", f.PromptsListChanged),
			"resourcesListChanged": flag(in, "resourcesListChanged", f.ResourcesListChanged), "resourceSubscriptions": subscribed,
		}), err
	}},
}

func retried(retry ext2026.Retry, decoded map[string]string) map[string]string {
	decoded["inputResponses"], decoded["requestState"] = string(retry.InputResponses), string(retry.RequestState)
	return decoded
}

func modernList(typ, method string) view {
	return view{era: "ext2026", typ: typ, lenient: otherwiseHints, read: func(in wire.Value) (map[string]string, error) {
		r, err := ext2026.ParseListResult(method, in)
		return fields(r.Object, map[string]string{ext2026.ItemsMember(method): string(r.Items), "nextCursor": string(r.NextCursor)}), err
	}}
}
