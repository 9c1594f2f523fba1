package demo

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"
)

const (
	methodInitialize = "initialize"
	// codeResource is 2025-11-25's code for a resource that is not there.
	codeResource = -32002
	// defaultLevel sends info and above until the client sets a level.
	defaultLevel = 1
)

// legacyMethod is how one method is served. serve does what takes no time; it
// returns the rest if there is more.
type legacyMethod struct {
	since string // the first revision that has it
	serve func(*session, message) (object, later, error)
}

// table is every method of a session; any other is not found.
func (l *Legacy) table() map[string]legacyMethod {
	at := func(since string, serve func(*session, message) (object, error)) legacyMethod {
		return legacyMethod{since: since, serve: func(s *session, msg message) (object, later, error) {
			result, err := serve(s, msg)
			return result, nil, err
		}}
	}
	return map[string]legacyMethod{
		methodInitialize: at(legacyOldest, func(*session, message) (object, error) {
			return nil, badRequest(codeRequest, "initialize is never part of a batch")
		}),
		"ping":                     at(legacyOldest, func(*session, message) (object, error) { return object{}, nil }),
		"logging/setLevel":         at(legacyOldest, (*session).setLevel),
		"tools/list":               at(legacyOldest, (*session).listTools),
		"tools/call":               {since: legacyOldest, serve: (*session).callTool},
		"prompts/list":             at(legacyOldest, listedTo("prompts", promptList())),
		"prompts/get":              at(legacyOldest, func(_ *session, msg message) (object, error) { return promptResult(msg.params) }),
		"resources/list":           at(legacyOldest, listedTo("resources", resourceList())),
		"resources/templates/list": at(legacyOldest, listedTo("resourceTemplates", templateList())),
		"resources/read":           at(legacyOldest, (*session).readResource),
		"resources/subscribe":      at(legacyOldest, (*session).subscribe),
		"resources/unsubscribe":    at(legacyOldest, (*session).unsubscribe),
		"completion/complete":      at(legacyOldest, func(_ *session, msg message) (object, error) { return completion(msg.params) }),
		"tasks/get":                at(legacyNewest, (*session).getTask),
		"tasks/list":               at(legacyNewest, (*session).listTasks),
		"tasks/cancel":             at(legacyNewest, (*session).cancelTask),
		"tasks/result":             {since: legacyNewest, serve: (*session).taskResult},
	}
}

// legacyCaps are the capabilities of a client that this server acts on.
type legacyCaps struct {
	forms, urls, sampling, roots bool
}

// readLegacyCaps reads what a client declares, as far as the revision has it.
func readLegacyCaps(version string, declared members) legacyCaps {
	caps := legacyCaps{
		sampling: firstByte(declared["sampling"]) == '{',
		roots:    firstByte(declared["roots"]) == '{',
	}
	modes, err := readObject(declared["elicitation"])
	if err != nil || version < legacyMiddle {
		return caps
	}
	_, hasForm := modes["form"]
	_, hasURL := modes["url"]
	if version < legacyNewest {
		hasURL = false // no modes yet
	}
	caps.forms, caps.urls = hasForm || !hasURL, hasURL
	return caps
}

// can says whether a client may be asked a question.
func (c legacyCaps) can(q question) bool {
	switch q.method {
	case methodSample:
		return c.sampling
	case methodRoots:
		return c.roots
	}
	if params, ok := q.params.(object); ok && params["mode"] == "url" {
		return c.urls
	}
	return c.forms
}

// initialize begins a session. Spec: 2025-11-25 basic/lifecycle.
func (l *Legacy) initialize(rep *reply, w http.ResponseWriter, r *http.Request, msg message) error {
	if len(r.Header.Values(headerSession)) > 0 {
		return badRequest(codeRequest, "a session is initialized once")
	}
	version, ok := readString(msg.params["protocolVersion"])
	if !ok {
		return invalid("params.protocolVersion: want a string")
	}
	declared, err := readObject(msg.params["capabilities"])
	if err != nil {
		return invalid("params.capabilities: %v", err)
	}
	info, err := readObject(msg.params["clientInfo"])
	_, hasName := readString(info["name"])
	_, hasVersion := readString(info["version"])
	if err != nil || !hasName || !hasVersion {
		return invalid("params.clientInfo: want a name and a version")
	}
	if !speaks(version) {
		version = legacyNewest
	}
	s, err := l.open(version, readLegacyCaps(version, declared))
	if err != nil {
		return err
	}
	w.Header().Set(headerSession, s.id)
	rep.finish(object{
		"protocolVersion": version,
		"capabilities":    s.offers(),
		"serverInfo": s.aged(object{
			"name": "taskbridge-demo-legacy", "title": "taskbridge demo (2025-11-25)", "version": "1.0.0",
		}),
		"instructions": "A server to try things with. Its tools say what they do; those that can be tasks say so too.",
	})
	return nil
}

// offers are the capabilities of this server in the session's revision.
func (s *session) offers() object {
	caps := object{
		"tools":       object{"listChanged": true},
		"prompts":     object{"listChanged": true},
		"resources":   object{"listChanged": true, "subscribe": true},
		"completions": object{},
		"logging":     object{},
	}
	if s.version == legacyNewest {
		caps["tasks"] = object{
			"list": object{}, "cancel": object{}, "requests": object{"tools": object{"call": object{}}},
		}
	}
	return caps
}

// aged takes titles from what a client sees whose revision has none.
func (s *session) aged(entry object) object {
	if s.version >= legacyMiddle {
		return entry
	}
	entry = maps.Clone(entry)
	delete(entry, "title")
	return entry
}

// page answers with one page of a list.
func (s *session) page(name string, all []object, msg message) (object, error) {
	start, err := readCursor(name, msg.params["cursor"], len(all))
	if err != nil {
		return nil, err
	}
	end := len(all)
	if size := s.server.opts.PageSize; size > 0 {
		end = min(end, start+size)
	}
	entries := make([]object, 0, end-start)
	for _, entry := range all[start:end] {
		entries = append(entries, s.aged(entry))
	}
	result := object{name: entries}
	if end < len(all) {
		result["nextCursor"] = writeCursor(name, end)
	}
	return result, nil
}

func listedTo(name string, all []object) func(*session, message) (object, error) {
	return func(s *session, msg message) (object, error) { return s.page(name, all, msg) }
}

// taskSupport is what tools/list says of when a call becomes a task.
var taskSupport = map[taskUse]string{taskNever: "forbidden", taskWhenAble: "optional", taskAlways: "required"}

func (s *session) listTools(msg message) (object, error) {
	var list []object
	for _, t := range s.server.tools.tools {
		entry := object{
			"name": t.name, "title": t.title, "description": t.about, "inputSchema": json.RawMessage(t.input),
		}
		if t.output != "" && s.version >= legacyMiddle {
			entry["outputSchema"] = json.RawMessage(t.output)
		}
		if s.version == legacyNewest {
			entry["execution"] = object{"taskSupport": taskSupport[t.use]}
		}
		list = append(list, entry)
	}
	return s.page("tools", list, msg)
}

func (s *session) readResource(msg message) (object, error) {
	uri, err := resourceURI(msg)
	if err != nil {
		return nil, err
	}
	content, _ := readResource(uri, time.Now())
	return object{"contents": []object{content}}, nil
}

// resourceURI is the resource that a request names, which has to be there.
func resourceURI(msg message) (string, error) {
	uri, ok := readString(msg.params["uri"])
	if !ok {
		return "", invalid("params.uri: want a string")
	}
	if _, there := readResource(uri, time.Time{}); !there {
		return "", &rpcError{code: codeResource, message: "resource not found", data: object{"uri": uri}}
	}
	return uri, nil
}

func (s *session) setLevel(msg message) (object, error) {
	name, _ := readString(msg.params["level"])
	level := slices.Index(logLevels, name)
	if level < 0 {
		return nil, invalid("params.level: want a log level")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
	return object{}, nil
}

// subscribe tells the client from now on when a resource changes; only the
// clock does.
func (s *session) subscribe(msg message) (object, error) {
	uri, err := resourceURI(msg)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if uri == clockURI && s.clock == nil {
		var ctx context.Context
		ctx, s.clock = context.WithCancel(s.ctx)
		s.server.flights.Go(func() { s.tick(ctx) })
	}
	return object{}, nil
}

func (s *session) unsubscribe(msg message) (object, error) {
	uri, err := resourceURI(msg)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if uri == clockURI && s.clock != nil {
		s.clock()
		s.clock = nil
	}
	return object{}, nil
}

func (s *session) tick(ctx context.Context) {
	for pause(ctx, clockPeriod) == nil {
		s.notify("notifications/resources/updated", object{"uri": clockURI})
	}
}

// announce says that a list may have changed, to every session.
func (l *Legacy) announce(list string) {
	for _, s := range l.everyone() {
		s.notify("notifications/"+list+"/list_changed", nil)
	}
}
