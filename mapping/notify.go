package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendDownTaskStatus appends the params of notifications/tasks/status for the
// params of notifications/tasks, or for a task from a poll: the rendering of
// [AppendDownTask], without related-task and subscriptionId.
//
// Spec: 2025-11-25 "Task Status Notification"; ext-tasks "Task Status
// Notifications". Rules §4.16, §3.6.
// Loss: as in AppendDownTask.
func AppendDownTaskStatus(dst []byte, in ext2026.Task, handle string, o TaskOptions) ([]byte, Notes, error) {
	return appendDownTask(dst, &in, handle, o, ext2026.NotificationTasks)
}

// AppendUpTaskNotification appends the params of notifications/tasks for a legacy
// task: what tasks/get would say, with the id of the subscription, a raw string or
// integer, in _meta and without resultType and serverInfo.
//
// Spec: ext-tasks "Task Status Notifications". Rules §4.24, §3.5 B.
// Loss: as in [AppendUpTask].
func AppendUpTaskNotification(dst []byte, in legacy2025.Task, handle string, subscriptionID wire.Value, o UpTaskOptions) ([]byte, Notes, error) {
	return appendUpTask(dst, &in, handle, o, metaPlan{subscription: subscriptionID}, false)
}
