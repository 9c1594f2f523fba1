package adapter_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// ceilings lists every wait of the legacy route, the setting that bounds it, if there
// is one, and what proves that it does: a conversation, or a test as "file: name" (G-8).
//
// One wait has no ceiling of its own: tasks/result goes on for as long as the task
// lives and its backend can be asked (A-R7).
var ceilings = []struct{ wait, setting, proof string }{
	{"a backend that is silent", "times.call_idle", "silent-backend"},
	{"a backend that shows that it is alive and does not answer", "times.call_total", "call-long"},
	{"a backend that asks to come back later", "times.call_total", "throttled"},
	{"a server that only asks to be asked again", "times.call_total", "state-only-endless"},
	{"a server that asks its client without end", "", "questions-rounds"},
	{"the same behind a hosted task", "", "hosted-question-endless"},
	{"a hosted call", "times.call_total", "hosted-call-long"},
	{"a task driven for a plain call", "times.call_total", "driven-call-long"},
	{"tasks/result while the backend is away or silent", "times.call_total", "result-unreachable"},
	{"a server that does not take an answer", "times.call_total", "task-question-update-endless"},
	{"a server that does not answer tasks/cancel", "", "cancel-silent"},
	{"the tasks of a page of tasks/list", "", "list-slow"},
	{"the acknowledgement of a subscription", "times.probe", "back/modern/listen_test.go: TestListenNotAcknowledged"},
	{"a subscription that a client has asked for", "", "subscribe-unanswered"},
	{"the probe of a backend's era", "times.probe", "probe-silent"},
	{"server/discover", "times.call_idle", "probe-silent"},
	{"a client's answers to a plain call", "times.answer", "question-time"},
	{"a client that was lost, for its call", "times.replay_window", "disconnect-call"},
	{"a client that sends its message slowly", "", "front/legacy/disconnect_test.go: TestSlowBody"},
	{"a client that does not read", "", "front/legacy/disconnect_test.go: TestClientThatDoesNotRead"},
	{"a session that nobody uses", "times.session_idle", "session-idle"},
	{"calls while the bridge stops", "times.drain", "shutdown"},
	{"hosted calls while the bridge stops", "times.drain", "shutdown-hosted"},
}

// paces are the times that bound no wait: how often something is done, how long
// something is kept, and one that has no effect on this route.
var paces = []string{"poll_floor", "hosted_poll", "min_ttl", "max_ttl", "list_retention", "reprobe", "park"}

// TestEveryWaitHasACeiling: what the table says of each wait is there to be read, and
// every setting that bounds a wait is in it.
func TestEveryWaitHasACeiling(t *testing.T) {
	t.Parallel()
	listed := make(map[string]bool)
	for _, name := range paces {
		listed["times."+name] = true
	}
	for _, c := range ceilings {
		listed[c.setting] = true
		file, name, isTest := strings.Cut(c.proof, ": ")
		if !isTest {
			file, name = "../testdata/golden/conversation/"+c.proof+".txtar", "G-8"
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s: %v", c.wait, err)
			continue
		}
		if !strings.Contains(string(text), name) || !isTest && !strings.Contains(string(text), c.setting) {
			t.Errorf("%s: %s says nothing of %s, or of %q", c.wait, file, name, c.setting)
		}
	}
	for field := range reflect.TypeFor[config.Times]().Fields() {
		if key := "times." + snake(field.Name); !listed[key] {
			t.Errorf("%s is in no table", key)
		}
	}
}

// snake is the key of a field.
func snake(name string) string {
	var b strings.Builder
	upper := true
	for _, r := range name {
		if unicode.IsUpper(r) && !upper {
			b.WriteByte('_')
		}
		upper = unicode.IsUpper(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
