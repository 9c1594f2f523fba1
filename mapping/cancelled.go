package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendUpCancelled appends the params of notifications/cancelled for the
// request that the modern server knows as id. A notification that names no
// request cancels nothing and is an error (§1.7).
//
// Rules G-10, §1.7, §3.6. Loss: none.
func AppendUpCancelled(dst []byte, params, id wire.Value) ([]byte, Notes, error) {
	in, err := legacy2025.ParseCancelledParams(params)
	if err == nil && !in.RequestID.Present() {
		err = wire.Wrong("params.requestId", "a request id")
	}
	if err != nil {
		return dst, 0, malformed(Up, legacy2025.NotificationCancelled, err)
	}
	return appendCancelled(dst, Up, in.Object, id)
}

// AppendDownCancelled appends the params of notifications/cancelled for the
// request that the legacy server knows as id.
//
// Rules G-10, §1.7, §3.6. Loss: none.
func AppendDownCancelled(dst []byte, params, id wire.Value) ([]byte, Notes, error) {
	in, err := ext2026.ParseCancelledParams(params)
	if err != nil {
		return dst, 0, malformed(Down, ext2026.NotificationCancelled, err)
	}
	return appendCancelled(dst, Down, in.Object, id)
}

func appendCancelled(dst []byte, dir Dir, in wire.Object, id wire.Value) ([]byte, Notes, error) {
	meta, err := wire.OptionalObject(in.Get("_meta"), "params._meta")
	if err != nil {
		return dst, 0, malformed(dir, legacy2025.NotificationCancelled, err)
	}
	w := wire.Begin(dst)
	for _, m := range in.Members() {
		switch m.Name {
		case "requestId":
			w.Value(m.Name, id)
		case "_meta":
		default:
			w.Copy(m)
		}
	}
	notes := writeMeta(&w, dir, &meta, metaPlan{})
	return w.End(), notes, nil
}
