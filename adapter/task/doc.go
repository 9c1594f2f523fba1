// Package task keeps the tasks that the bridge has handed out.
//
// A task's handle is a sealed token that names its backend, its id there and
// its owner, so a proxied task is reachable even when the store is lost. The
// store holds one record per task: the newest document seen, the final one once
// there is one, the mark of a cancellation under way, and the place in its
// owner's list. A record is durable before the handle is told to anyone.
//
// A hosted task is one whose document the bridge writes itself, because the
// backend answered the call without making a task. From the outside it is like
// any other.
//
// The package sees the shapes of neither era. A task document is an opaque
// value that it reads and renders through [port.TaskDialect].
//
// Rules: PROTOCOL.md §4.2, §4.6, §4.7, §4.9, §4.12 to §4.14 and §4.16.
package task
