package ext2026

// MethodTasksCancel asks for the end of a task. Params are those of tasks/get.
// The result is an empty acknowledgement: the task may finish all the same.
const MethodTasksCancel = "tasks/cancel"
