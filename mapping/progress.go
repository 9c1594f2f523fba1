package mapping

import (
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// AppendDownProgress appends the params of notifications/progress under the
// token of the legacy client, as it sent it (G-10).
//
// Rules G-9, G-10, §3.6. Loss: none.
func AppendDownProgress(dst []byte, params, token wire.Value) ([]byte, Notes, error) {
	in, err := ext2026.ParseProgressParams(params)
	if err != nil {
		return dst, 0, malformed(Down, ext2026.NotificationProgress, err)
	}
	return appendProgress(dst, Down, in.Object, token)
}

// AppendUpProgress appends the params of notifications/progress under the token
// of the modern client, as it sent it (G-10).
//
// Rules G-9, G-10, §3.6. Loss: none.
func AppendUpProgress(dst []byte, params, token wire.Value) ([]byte, Notes, error) {
	in, err := legacy2025.ParseProgressParams(params)
	if err != nil {
		return dst, 0, malformed(Up, legacy2025.NotificationProgress, err)
	}
	return appendProgress(dst, Up, in.Object, token)
}

func appendProgress(dst []byte, dir Dir, in wire.Object, token wire.Value) ([]byte, Notes, error) {
	meta, err := wire.OptionalObject(in.Get("_meta"), "params._meta")
	if err != nil {
		return dst, 0, malformed(dir, legacy2025.NotificationProgress, err)
	}
	w := wire.Begin(dst)
	for _, m := range in.Members() {
		switch m.Name {
		case "progressToken":
			w.Value(m.Name, token)
		case "_meta":
		default:
			w.Copy(m)
		}
	}
	notes := writeMeta(&w, dir, &meta, metaPlan{})
	return w.End(), notes, nil
}

// ProgressGrew reports whether the progress value next is greater than last
// (G-12). An absent last is smaller than any; what cannot be compared grew.
func ProgressGrew(last, next wire.Value) bool {
	if !last.Present() {
		return true
	}
	order, ok := wire.Compare(last, next)
	return !ok || order < 0
}
