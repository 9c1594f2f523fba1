package mapping_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// view is a view of a wire package, held against the fields its type has by the
// published schema.
type view struct {
	era, typ string
	// values are texts for fields that need a certain form.
	values map[string]string
	// read parses a value and returns what the accessor of each field says: the
	// value as received, or decoded text.
	read func(in wire.Value) (map[string]string, error)
	// lenient are required fields whose absence the view tolerates, with the rule.
	lenient map[string]string
	// unread are fields without an accessor, with the reason.
	unread map[string]string
}

// taskTimes are fields of tasks that peers leave out.
var taskTimes = map[string]string{"createdAt": "G-17", "lastUpdatedAt": "G-17", "ttl": "B-G3", "ttlMs": "§4.6"}

var views = []view{
	{
		era: "legacy2025", typ: "GetTaskResult", values: times, lenient: taskTimes,
		read: func(in wire.Value) (map[string]string, error) {
			task, err := legacy2025.ParseTask(in, "")
			return readLegacyTask(&task, true), err
		},
	},
	{
		era: "legacy2025", typ: "Task", values: times, lenient: taskTimes,
		read: func(in wire.Value) (map[string]string, error) {
			task, err := legacy2025.ParseTask(in, "")
			return readLegacyTask(&task, false), err
		},
	},
	{
		era: "legacy2025", typ: "CreateTaskResult", values: times,
		read: func(in wire.Value) (map[string]string, error) {
			created, err := legacy2025.ParseCreateTaskResult(in, "")
			return map[string]string{"task": string(created.Task.Raw()), "_meta": string(created.Meta().Raw())}, err
		},
	},
	{
		era: "legacy2025", typ: "TaskMetadata",
		read: func(in wire.Value) (map[string]string, error) {
			metadata, err := legacy2025.ParseTaskMetadata(`{"task":` + in + `}`)
			return map[string]string{"ttl": string(jsonrpc.IntID(metadata.TTLMs))}, err
		},
	},
	{
		era: "legacy2025", typ: "GetTaskRequest.params",
		read: func(in wire.Value) (map[string]string, error) {
			id, err := legacy2025.ParseTaskID(in)
			return map[string]string{"taskId": id}, err
		},
	},
	{
		era: "legacy2025", typ: "ElicitRequestURLParams",
		read: func(in wire.Value) (map[string]string, error) {
			list, err := legacy2025.ParseURLElicitations(`{"elicitations":[` + in + `]}`)
			if err != nil {
				return nil, err
			}
			mode, _ := legacy2025.ElicitMode(in)
			return map[string]string{"elicitationId": list[0].ID, "url": list[0].URL, "message": list[0].Message, "mode": mode}, nil
		},
		unread: map[string]string{"_meta": "B-U10", "task": "B-U10"},
	},
	{
		era: "ext2026", typ: "GetTaskResult", values: times, read: readModernTask,
		lenient: map[string]string{"createdAt": "G-17", "lastUpdatedAt": "G-17", "ttlMs": "§4.6", "resultType": "G-15: absent means complete"},
		unread:  map[string]string{"resultType": "§3.1: read by ParseResult"},
	},
	{
		era: "ext2026", typ: "TaskStatusNotificationParams", values: times, lenient: taskTimes,
		read: readModernTask,
	},
	{
		era: "ext2026", typ: "UpdateTaskRequest.params",
		read: func(in wire.Value) (map[string]string, error) {
			update, err := ext2026.ParseUpdateParams(in)
			return map[string]string{"taskId": update.TaskID, "inputResponses": string(update.Responses.Raw())}, err
		},
	},
	{
		era: "ext2026", typ: "ElicitRequest", read: readQuestion,
	},
	{
		era: "ext2026", typ: "CreateMessageRequest", read: readQuestion,
	},
	{
		era: "ext2026", typ: "ListRootsRequest", read: readQuestion,
	},
	{
		era: "ext2026", typ: "MissingRequiredClientCapabilityError.error.data",
		read: func(in wire.Value) (map[string]string, error) {
			missing := ext2026.MissingCapabilities(in)
			names := map[string]bool{}
			for _, path := range missing.Paths {
				name, _, _ := strings.Cut(path, ".")
				names[name] = true
			}
			for m := range in.Get("requiredCapabilities").Members() {
				if !names[m.Name] {
					return nil, wire.Wrong(m.Name, "a path")
				}
			}
			return map[string]string{"requiredCapabilities": string(in.Get("requiredCapabilities"))}, nil
		},
		lenient: map[string]string{"requiredCapabilities": "§1.6: data of another shape names nothing"},
	},
	{
		era: "ext2026", typ: "UnsupportedProtocolVersionError.error.data",
		read: func(in wire.Value) (map[string]string, error) {
			versions := ext2026.SupportedVersions(in)
			return map[string]string{"supported": `["` + strings.Join(versions, `","`) + `"]`}, nil
		},
		lenient: map[string]string{"supported": "§1.6: data of another shape names nothing", "requested": "§1.6"},
		unread:  map[string]string{"requested": "§1.6: the bridge knows what it asked for"},
	},
}

func readLegacyTask(task *legacy2025.Task, isResult bool) map[string]string {
	message, _ := task.StatusMessage()
	ttl, _ := task.TTL()
	poll, _ := task.PollInterval()
	values := map[string]string{
		"taskId": task.ID(), "status": string(task.Status()), "statusMessage": message, "createdAt": string(task.CreatedAt()),
		"lastUpdatedAt": string(task.LastUpdatedAt()), "ttl": string(ttl), "pollInterval": string(poll),
	}
	if isResult {
		values["_meta"] = string(task.Meta().Raw())
	}
	return values
}

func readModernTask(in wire.Value) (map[string]string, error) {
	task, err := ext2026.ParseTask(in, "")
	message, _ := task.StatusMessage()
	ttl, _ := task.TTLMs()
	poll, _ := task.PollIntervalMs()
	values := map[string]string{
		"taskId": task.ID(), "status": string(task.Status()), "statusMessage": message, "createdAt": string(task.CreatedAt()),
		"lastUpdatedAt": string(task.LastUpdatedAt()), "ttlMs": string(ttl), "pollIntervalMs": string(poll),
		"_meta": string(task.Meta().Raw()), "result": string(task.Result()), "error": string(task.Error()),
		"inputRequests": string(task.InputRequests().Raw()),
	}
	if task.Status() != ext2026.StatusInputRequired && err == nil {
		values["inputRequests"] = string(in.Get("inputRequests")) // read only where it belongs
	}
	return values, err
}

func readQuestion(in wire.Value) (map[string]string, error) {
	question, err := ext2026.ParseInputRequest(in, "")
	return map[string]string{"method": question.Method, "params": string(question.Params)}, err
}

func TestViewsReadEveryField(t *testing.T) {
	t.Parallel()
	files := map[string]*facts{"legacy2025": readFacts(t, "legacy2025"), "ext2026": readFacts(t, "ext2026")}
	for _, v := range views {
		t.Run(v.era+"/"+v.typ, func(t *testing.T) {
			t.Parallel()
			file := files[v.era]
			for variant := range 5 {
				f := newFiller(t, file, variant)
				f.values = v.values
				doc := f.fill(v.typ)
				v.check(t, file, wire.Value(doc.text(-1)))
			}
		})
	}
}

func (v view) check(t *testing.T, file *facts, in wire.Value) {
	t.Helper()
	got, err := v.read(in)
	if err != nil {
		t.Fatalf("%v\n%s", err, in)
	}
	for field := range got {
		if _, ok := file.fields[v.typ][field]; !ok {
			t.Errorf("an accessor for %s, which the type does not have", field)
		}
	}
	for field, expr := range file.fields[v.typ] {
		value := in.Get(field)
		text, isText := value.Text()
		read, accessible := got[field]
		_, unread := v.unread[field]
		switch {
		case accessible == unread:
			t.Errorf("%s: accessor %t, listed as unread %t", field, accessible, unread)
		case accessible && read != string(value) && (!isText || read != text):
			t.Errorf("%s reads as %s\n%s", field, read, in)
		}
		_, err := v.read(remove(in, field))
		_, lenient := v.lenient[field]
		switch required := strings.HasSuffix(expr, "!"); {
		case required && !lenient && err == nil:
			t.Errorf("nobody misses %s, which is required", field)
		case (!required || lenient) && err != nil:
			t.Errorf("without %s: %v", field, err)
		}
	}
}

// remove returns an object without a member.
func remove(in wire.Value, name string) wire.Value {
	w := wire.Begin(nil)
	for m := range in.Members() {
		if m.Name != name {
			w.Copy(m)
		}
	}
	return wire.Value(w.End())
}

// TestViewsCoverTheTypesOfTasks fails when a type of the tasks extension or its
// predecessor gets a field that no view is held against.
func TestViewsCoverTheTypesOfTasks(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy2025", "ext2026"} {
		covered := map[string]bool{}
		file := readFacts(t, era)
		for _, v := range views {
			if v.era == era {
				for field := range file.fields[v.typ] {
					covered[field] = true
				}
			}
		}
		var missing []string
		for typ, fields := range file.fields {
			if _, envelope := fields["jsonrpc"]; envelope || !strings.Contains(typ, "Task") {
				continue
			}
			for field := range fields {
				if !covered[field] && !excusedFields[typ+"."+field] {
					missing = append(missing, typ+"."+field)
				}
			}
		}
		if slices.Sort(missing); len(missing) > 0 {
			t.Errorf("%s: no view reads %v", era, missing)
		}
	}
}

// excusedFields are fields of task types that views of other packages read.
var excusedFields = map[string]bool{
	"TaskAugmentedRequestParams._meta.progressToken":    true, // read with every request
	"TaskSubscriptionNotifications.taskIds":             true, // SubscriptionFilter
	"TaskSubscriptionAcknowledgedNotifications.taskIds": true, // SubscriptionFilter
	"ListTasksResult.tasks":                             true, // written only
	"ListTasksResult.nextCursor":                        true, // written only
}
