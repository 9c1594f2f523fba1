package modern

import (
	"strings"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// method is what this face knows of a method; the zero method is one of a vendor.
type method struct {
	served bool
	// listens is set for the one whose answer is a stream that stays open.
	listens bool
	// params reads the params, the envelope aside, beyond [ext2026.CheckParams].
	params func(params wire.Value) error
	// tasks reports whether a request needs the tasks extension (§4.19, §4.24).
	tasks func(params wire.Value) bool
}

// methods are those of the revision and of the tasks extension, by name.
var methods = map[string]method{
	ext2026.MethodServerDiscover:        {served: true},
	ext2026.MethodToolsList:             {served: true},
	ext2026.MethodToolsCall:             {served: true},
	ext2026.MethodPromptsList:           {served: true},
	ext2026.MethodPromptsGet:            {served: true},
	ext2026.MethodResourcesList:         {served: true},
	ext2026.MethodResourceTemplatesList: {served: true},
	ext2026.MethodResourcesRead:         {served: true},
	ext2026.MethodCompletionComplete:    {served: true},
	ext2026.MethodSubscriptionsListen:   {served: true, listens: true, tasks: listensForTasks},
	ext2026.MethodTasksGet:              {served: true, params: checkTaskID, tasks: always},
	ext2026.MethodTasksUpdate:           {served: true, params: checkUpdate, tasks: always},
	ext2026.MethodTasksCancel:           {served: true, params: checkTaskID, tasks: always},
}

// aboutTask reports whether a method is about one task.
func (m method) aboutTask() bool { return m.tasks != nil && !m.listens }

// reserved are the first parts of names that protocols of this family use, in
// either direction. No vendor's method begins so: what does, and is not served, is
// of another revision, or of nobody (§6.2).
var reserved = map[string]bool{
	"server": true, "tools": true, "prompts": true, "resources": true, "completion": true,
	"subscriptions": true, "tasks": true, "notifications": true, "logging": true,
	"roots": true, "sampling": true, "elicitation": true,
}

// known returns what is known of a method, and false for one that is neither served
// nor can be a vendor's. The backend is asked about a vendor's methods, since only
// it can tell; so they have to fit into a header.
func known(name string) (method, bool) {
	if m, served := methods[name]; served {
		return m, true
	}
	space, rest, found := strings.Cut(name, "/")
	return method{}, found && space != "" && rest != "" && !reserved[space] && visible(name)
}

func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func always(wire.Value) bool { return true }

func listensForTasks(params wire.Value) bool {
	return params.Get("notifications").Get("taskIds").Present()
}

func checkTaskID(params wire.Value) error {
	_, err := ext2026.ParseTaskID(params)
	return err
}

func checkUpdate(params wire.Value) error {
	_, err := ext2026.ParseUpdateParams(params)
	return err
}
