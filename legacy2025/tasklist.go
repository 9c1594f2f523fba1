package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// MethodTasksList lists the caller's tasks, page by page.
const MethodTasksList = "tasks/list"

// ParseTasksCursor reads params.cursor of tasks/list. Absent params or an absent
// cursor mean the first page, and has is then false. A cursor that is no string
// is an error, and so is the empty string, which this server never hands out
// (A-S2). The error is a *[wire.DecodeError].
func ParseTasksCursor(params wire.Value) (cursor string, has bool, err error) {
	obj, err := wire.OptionalObject(params, "params")
	if err != nil {
		return "", false, err
	}
	v := obj.Get("cursor")
	if !v.Present() {
		return "", false, nil
	}
	cursor, ok := v.Text()
	if !ok || cursor == "" {
		return "", false, wire.Wrong("params.cursor", "a non-empty string")
	}
	return cursor, true, nil
}
