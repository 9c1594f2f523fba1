package bridge

import (
	"slices"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// Where both peers are of one era a message passes as it is: what a rule names is
// replaced in its place, and the bytes of everything else are the sender's (S-1,
// S-3).

// edited returns the object v with each member that edit returns another value for
// replaced, and without those it returns none for. One that stays as it is comes
// back itself.
func edited(v wire.Value, edit func(m wire.Member) wire.Value) wire.Value {
	changed := false
	w := wire.Begin(nil)
	for m := range v.Members() {
		next := edit(m)
		if next == m.Value {
			w.Copy(m)
			continue
		}
		changed = true
		if next.Present() {
			w.Spell(m)
			w.SetBuf(append(w.Buf(), next...))
		}
	}
	if !changed {
		return v
	}
	return wire.Value(w.End())
}

// replaced returns v with the value at a path of members replaced by what edit
// returns for it. Nothing is done where there is none.
func replaced(v wire.Value, edit func(wire.Value) wire.Value, path ...string) wire.Value {
	below := v
	for _, name := range path {
		if below = below.Get(name); !below.Present() {
			return v
		}
	}
	return replacedAt(v, edit, path)
}

func replacedAt(v wire.Value, edit func(wire.Value) wire.Value, path []string) wire.Value {
	if len(path) == 0 {
		return edit(v)
	}
	return edited(v, func(m wire.Member) wire.Value {
		if m.Name != path[0] {
			return m.Value
		}
		return replacedAt(m.Value, edit, path[1:])
	})
}

// to returns an edit that puts a value in place of any other.
func to(v wire.Value) func(wire.Value) wire.Value {
	return func(wire.Value) wire.Value { return v }
}

// withMember returns the object v in which the member called name is value.
func withMember(v wire.Value, name string, value wire.Value) wire.Value {
	if v.Get(name).Present() {
		return replaced(v, to(value), name)
	}
	w := wire.Begin(nil)
	for m := range v.Members() {
		w.Copy(m)
	}
	w.Value(name, value)
	return wire.Value(w.End())
}

// withMeta returns params or a result whose _meta has value under key.
func withMeta(v wire.Value, key string, value wire.Value) wire.Value {
	return withMember(v, "_meta", withMember(v.Get("_meta"), key, value))
}

// relatedTask is the task that params or a result belong to, or absent.
func relatedTask(v wire.Value) wire.Value {
	return v.Get("_meta").Get(wire.MetaRelatedTask).Get("taskId")
}

// withRelatedTask replaces it.
func withRelatedTask(v, taskID wire.Value) wire.Value {
	return replaced(v, to(taskID), "_meta", wire.MetaRelatedTask, "taskId")
}

var (
	// modernOnly are methods that mean nothing between legacy peers (S-3).
	modernOnly = []string{
		ext2026.MethodServerDiscover, ext2026.MethodSubscriptionsListen, ext2026.MethodTasksUpdate,
		ext2026.NotificationSubscriptionsAcknowledged, ext2026.NotificationTasks,
	}
	// legacyTasks are requests about tasks. A client may have some of its own, so
	// that they go both ways.
	legacyTasks = []string{
		legacy2025.MethodTasksGet, legacy2025.MethodTasksResult, legacy2025.MethodTasksCancel, legacy2025.MethodTasksList,
	}
)

func isModernOnly(method string) bool { return slices.Contains(modernOnly, method) }

func isLegacyTask(method string) bool { return slices.Contains(legacyTasks, method) }
