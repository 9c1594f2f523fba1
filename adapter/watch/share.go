package watch

import (
	"maps"
	"slices"
	"sync"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// share is the subscription of everyone who reaches a backend with the same
// credential.
type share struct {
	w    *Watcher
	key  shareKey
	kick chan struct{} // capacity 1: what is wanted has changed

	mu       sync.Mutex
	members  map[string]*member     // by session
	tasks    map[string]port.Caller // by the backend's id
	noTasks  bool                   // the backend does not report tasks
	unsure   bool                   // what the backend offers has to be asked
	denied   port.ChangeFilter      // lists that the backend offers but does not report
	open     bool
	honoured honoured // by the open subscription
	waiting  []*waiter
}

// honoured is what an open subscription reports.
type honoured struct {
	lists         port.ChangeFilter
	uris, taskIDs map[string]struct{}
}

func set(names []string) map[string]struct{} {
	s := make(map[string]struct{}, len(names))
	for _, n := range names {
		s[n] = struct{}{}
	}
	return s
}

func has(s map[string]struct{}, name string) bool {
	_, ok := s[name]
	return ok
}

func newShare(w *Watcher, key shareKey) *share {
	return &share{
		w: w, key: key, kick: make(chan struct{}, 1), unsure: true,
		members: make(map[string]*member), tasks: make(map[string]port.Caller),
	}
}

func (sh *share) changed() {
	select {
	case sh.kick <- struct{}{}:
	default:
	}
}

// unused reports whether nobody needs the share.
func (sh *share) unused() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return len(sh.members)+len(sh.tasks)+len(sh.waiting) == 0
}

func (sh *share) track(taskID string, caller port.Caller) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.tasks[taskID] = caller
	if !sh.noTasks && len(sh.members) > 0 {
		sh.changed()
	}
}

// untrack shrinks the subscription with its next opening.
func (sh *share) untrack(taskID string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if _, tracked := sh.tasks[taskID]; !tracked {
		return
	}
	delete(sh.tasks, taskID)
	if len(sh.tasks) == 0 {
		sh.changed()
	}
}

// speaker returns one of the members, on whose behalf the backend is asked: they
// share their credential. It reports false when there is none.
func (sh *share) speaker() (port.Caller, bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, m := range sh.members {
		return m.sub.Caller, true
	}
	return port.Caller{}, false
}

// asking reports whether it has to be asked what the backend offers.
func (sh *share) asking() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	was := sh.unsure
	sh.unsure = false
	return was
}

func (sh *share) askAgain() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.unsure = true
}

// wanted unites the filters of all members; offered are the lists whose changes
// the backend announces. Without members nothing is wanted.
func (sh *share) wanted(offered port.ChangeFilter) (want port.ChangeFilter, something bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(sh.members) == 0 {
		return want, false
	}
	want.Tools = offered.Tools && !sh.denied.Tools
	want.Prompts = offered.Prompts && !sh.denied.Prompts
	want.Resources = offered.Resources && !sh.denied.Resources
	uris := make(map[string]struct{})
	for _, m := range sh.members {
		maps.Copy(uris, m.uris)
	}
	want.URIs = slices.Sorted(maps.Keys(uris))
	if !sh.noTasks {
		want.TaskIDs = slices.Sorted(maps.Keys(sh.tasks))
	}
	return want, want.Tools || want.Prompts || want.Resources || len(want.URIs)+len(want.TaskIDs) > 0
}

// covered reports whether the open subscription serves the filter, and if not,
// whether only tasks are missing.
func (sh *share) covered(want port.ChangeFilter) (all, butTasks bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if !sh.open || len(sh.waiting) > 0 {
		return false, false
	}
	all = !sh.lacks(want)
	want.TaskIDs = nil
	return all, !sh.lacks(want)
}

// lacks reports whether the open subscription does not report all of the filter;
// the lock is held.
func (sh *share) lacks(f port.ChangeFilter) bool {
	h := &sh.honoured
	return f.Tools && !h.lists.Tools || f.Prompts && !h.lists.Prompts || f.Resources && !h.lists.Resources ||
		len(missing(f.URIs, h.uris)) > 0 || len(missing(f.TaskIDs, h.taskIDs)) > 0
}

// missing returns the names that are not in the set.
func missing(names []string, s map[string]struct{}) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return has(s, name) })
}

// opened settles everyone who waits by what the backend has honoured, and
// forgets what it has not, so that it is not asked again and again.
func (sh *share) opened(asked, granted port.ChangeFilter) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.open, sh.honoured = true, honoured{granted, set(granted.URIs), set(granted.TaskIDs)}
	sh.denied.Tools = sh.denied.Tools || asked.Tools && !granted.Tools
	sh.denied.Prompts = sh.denied.Prompts || asked.Prompts && !granted.Prompts
	sh.denied.Resources = sh.denied.Resources || asked.Resources && !granted.Resources
	sh.noTasks = sh.noTasks || len(asked.TaskIDs) > 0 && len(granted.TaskIDs) == 0
	for _, id := range missing(asked.TaskIDs, sh.honoured.taskIDs) {
		delete(sh.tasks, id)
	}
	for _, uri := range missing(asked.URIs, sh.honoured.uris) {
		for _, m := range sh.members {
			delete(m.uris, uri)
		}
	}
	sh.settle(asked.URIs, func(w *waiter) error {
		if has(sh.honoured.uris, w.uri) {
			return nil
		}
		return errRefused
	})
	if sh.lacks(asked) {
		sh.changed() // what was refused may have been all that was wanted
	}
}

var errRefused = jsonrpc.NewError(jsonrpc.CodeInvalidParams, "the backend does not report updates of this resource")

// failed settles everyone who waits for one of these resources with an error,
// and takes back what they asked for.
func (sh *share) failed(uris []string, err error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.settle(uris, func(w *waiter) error {
		if m := sh.members[w.session]; m != nil && w.added {
			delete(m.uris, w.uri)
		}
		return err
	})
	sh.changed() // what was asked for may have been all that was wanted
}

// settle answers those who wait for one of these resources; the lock is held.
// The others have come since it was asked for, and have asked for another opening.
func (sh *share) settle(uris []string, answer func(*waiter) error) {
	asked := set(uris)
	sh.waiting = slices.DeleteFunc(sh.waiting, func(w *waiter) bool {
		if !has(asked, w.uri) {
			return false
		}
		w.done <- answer(w)
		return true
	})
}

// eager reports whether somebody waits for an opening.
func (sh *share) eager() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return len(sh.waiting) > 0
}

// lost forgets the subscription, and what it has taught: the next one may reach
// another version of the backend.
func (sh *share) lost() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.open, sh.honoured = false, honoured{}
	sh.denied, sh.noTasks, sh.unsure = port.ChangeFilter{}, false, true
}

// deliver hands a change to the sessions it concerns.
func (sh *share) deliver(c port.Change) {
	sh.mu.Lock()
	if c.Task.Present() {
		caller, tracked := sh.tasks[c.TaskID]
		sh.mu.Unlock()
		if tracked {
			sh.w.OnTask(sh.w.ctx, sh.key.backend, caller, c.TaskID, c.Task)
		}
		return
	}
	defer sh.mu.Unlock()
	for _, m := range sh.members {
		if c.URI == "" || m.concerns(c.URI) {
			m.sub.Push(c.Key, c.Message)
		}
	}
}
