package mapping

import "github.com/taskbridge/taskbridge/internal/wire"

// AppendDownTaskList appends a ListTasksResult: a page of tasks, each as
// [AppendDownTask] rendered it, and the cursor of the next page unless it is
// empty. The modern era has no list; the bridge keeps one.
//
// Spec: 2025-11-25 "Task Listing". Rules A-S2, A-S4.
func AppendDownTaskList(dst []byte, tasks []wire.Value, nextCursor string) []byte {
	w := wire.Begin(dst)
	w.Name("tasks")
	buf := append(w.Buf(), '[')
	for i, task := range tasks {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, task...)
	}
	w.SetBuf(append(buf, ']'))
	if nextCursor != "" {
		w.Text("nextCursor", nextCursor)
	}
	return w.End()
}
