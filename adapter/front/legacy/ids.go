package legacy

import (
	"context"
	"strconv"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// idBlock is how many request ids a process takes of a session at once, with one
// write. Ids stay below 2^53, which every client can count to.
const idBlock = 1 << 20

// newID mints the id of a request to the client (A-I3). Every process has blocks
// of its own, and one that starts again begins a new one.
func (f *Face) newID(ctx context.Context, l *live, key string) (jsonrpc.ID, error) {
	l.ids.Lock()
	defer l.ids.Unlock()
	if l.nextID%idBlock == 0 {
		s := &session{key: key}
		if err := f.read(ctx, s); err != nil {
			return "", err
		}
		if err := f.update(ctx, s, func(r *record) { r.Askers = append(r.Askers, f.Peers.ID()) }); err != nil {
			return "", err
		}
		l.nextID = int64(len(s.Askers)-1) * idBlock
	}
	l.nextID++
	return jsonrpc.IntID(l.nextID), nil
}

// asker is the process that has minted the id of a request to the client, or "".
func (r *record) asker(id jsonrpc.ID) string {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil || n < 1 {
		return ""
	}
	if block := (n - 1) / idBlock; block < int64(len(r.Askers)) {
		return r.Askers[block]
	}
	return ""
}
