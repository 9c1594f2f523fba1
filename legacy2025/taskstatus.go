package legacy2025

// NotificationTasksStatus tells that a task has changed. Params are a task
// object, see [ParseTask], with an optional _meta and without related-task.
const NotificationTasksStatus = "notifications/tasks/status"
