package legacy2025

// MethodTasksCancel ends a task. Params are those of tasks/get. The result is
// the task, which is cancelled by then; a terminal task is refused with -32602.
const MethodTasksCancel = "tasks/cancel"
