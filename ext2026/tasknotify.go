package ext2026

// NotificationTasks tells of a change of a task, on a subscription that named
// it. Params are a DetailedTask, see [ParseTask], with subscriptionId in _meta
// and without resultType.
const NotificationTasks = "notifications/tasks"
