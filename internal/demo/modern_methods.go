package demo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// method is how one method is served.
type method struct {
	named string // the member of params that the header Mcp-Name mirrors
	tasks bool   // belongs to the tasks extension

	// serve returns the result, without what every result carries.
	serve func(context.Context, *request, *reply) (object, error)
}

// table is every method there is; any other is not found.
func (m *Modern) table() map[string]method {
	return map[string]method{
		"server/discover":          {serve: m.discover},
		"tools/list":               {serve: m.listTools},
		"tools/call":               {serve: m.callTool, named: "name"},
		"prompts/list":             {serve: m.listed("prompts", promptList())},
		"prompts/get":              {serve: m.getPrompt, named: "name"},
		"resources/list":           {serve: m.listed("resources", resourceList())},
		"resources/templates/list": {serve: m.listed("resourceTemplates", templateList())},
		"resources/read":           {serve: m.readResource, named: "uri"},
		"completion/complete":      {serve: m.complete},
		"subscriptions/listen":     {serve: m.listen},
		"tasks/get":                {serve: m.getTask, named: "taskId", tasks: true},
		"tasks/update":             {serve: m.updateTask, named: "taskId", tasks: true},
		"tasks/cancel":             {serve: m.cancelTask, named: "taskId", tasks: true},
	}
}

// fixedTTL is how long clients may keep what never changes, in milliseconds.
const fixedTTL = 300_000

// cacheable adds the caching hints of 2026-07-28 server/utilities/caching.
func cacheable(o object, ttlMs int) object {
	o["ttlMs"], o["cacheScope"] = ttlMs, "public"
	return o
}

func (m *Modern) discover(context.Context, *request, *reply) (object, error) {
	return cacheable(object{
		"supportedVersions": []string{modernVersion},
		"capabilities": object{
			"tools":       object{"listChanged": true},
			"prompts":     object{"listChanged": true},
			"resources":   object{"listChanged": true, "subscribe": true},
			"completions": object{},
			"logging":     object{},
			"extensions":  object{tasksExtension: object{}},
		},
		"instructions": "A server to try things with. Its tools say what they do; work, ask and fail become tasks " +
			"for clients that can follow them.",
	}, fixedTTL), nil
}

func (m *Modern) listTools(ctx context.Context, req *request, rep *reply) (object, error) {
	list := make([]object, 0, len(m.tools.tools))
	for _, t := range m.tools.tools {
		entry := object{
			"name": t.name, "title": t.title, "description": t.about,
			"inputSchema": json.RawMessage(t.input),
		}
		if t.output != "" {
			entry["outputSchema"] = json.RawMessage(t.output)
		}
		list = append(list, entry)
	}
	return m.listed("tools", list)(ctx, req, rep)
}

// listed serves a list under the given name, in pages if the options say so.
func (m *Modern) listed(name string, all []object) func(context.Context, *request, *reply) (object, error) {
	return func(_ context.Context, req *request, _ *reply) (object, error) {
		start, err := readCursor(name, req.params["cursor"], len(all))
		if err != nil {
			return nil, err
		}
		end := len(all)
		if size := m.opts.PageSize; size > 0 {
			end = min(end, start+size)
		}
		result := object{name: all[start:end]}
		if end < len(all) {
			result["nextCursor"] = writeCursor(name, end)
		}
		return cacheable(result, fixedTTL), nil
	}
}

func writeCursor(list string, start int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %d", list, start))
}

func readCursor(list string, raw json.RawMessage, length int) (int, error) {
	if raw == nil {
		return 0, nil
	}
	start, err := cursorPlace(list, raw)
	if err == nil && start >= length {
		err = errCursor
	}
	return start, err
}

var errCursor = invalid("params.cursor: not a cursor of this list")

// cursorPlace is the place in a list that a cursor of it stands for.
func cursorPlace(list string, raw json.RawMessage) (int, error) {
	cursor, _ := readString(raw)
	plain, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	text, ours := strings.CutPrefix(string(plain), list+" ")
	place, errPlace := strconv.Atoi(text)
	if err != nil || errPlace != nil || !ours || place <= 0 {
		return 0, errCursor
	}
	return place, nil
}

func (m *Modern) getPrompt(_ context.Context, req *request, _ *reply) (object, error) {
	return promptResult(req.params)
}

// promptResult answers prompts/get, whose params and result both eras share.
func promptResult(params members) (object, error) {
	name, _ := readString(params["name"])
	given := map[string]string{}
	if raw, ok := params["arguments"]; ok {
		values, err := readObject(raw)
		if err != nil {
			return nil, invalid("params.arguments: %v", err)
		}
		for k, v := range values {
			text, ok := readString(v)
			if !ok {
				return nil, invalid("params.arguments.%s: want a string", k)
			}
			given[k] = text
		}
	}
	result, err := getPrompt(name, given, time.Now())
	if err != nil {
		return nil, invalid("%v", err)
	}
	return result, nil
}

func (m *Modern) readResource(_ context.Context, req *request, _ *reply) (object, error) {
	uri, _ := readString(req.params["uri"])
	content, ok := readResource(uri, time.Now())
	if !ok {
		return nil, &rpcError{code: codeParams, message: "resource not found", data: object{"uri": uri}}
	}
	ttl := fixedTTL
	if uri == clockURI {
		ttl = 0
	}
	return cacheable(object{"contents": []object{content}}, ttl), nil
}

func (m *Modern) complete(_ context.Context, req *request, _ *reply) (object, error) {
	return completion(req.params)
}

// completion answers completion/complete, whose params and result both eras
// share.
func completion(params members) (object, error) {
	ref, errRef := readObject(params["ref"])
	argument, errArg := readObject(params["argument"])
	if errRef != nil || errArg != nil {
		return nil, invalid("params: want the objects ref and argument")
	}
	kind, _ := readString(ref["type"])
	target := ref["name"]
	if kind == "ref/resource" {
		target = ref["uri"]
	}
	of, _ := readString(target)
	name, _ := readString(argument["name"])
	typed, ok := readString(argument["value"])
	if !ok {
		return nil, invalid("params.argument.value: want a string")
	}
	values, ok := complete(kind, of, name, typed)
	if !ok {
		return nil, invalid("params: no such argument to complete")
	}
	return object{"completion": object{"values": values, "total": len(values), "hasMore": false}}, nil
}
