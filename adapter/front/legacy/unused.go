package legacy

import (
	"context"
	"errors"
	"time"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
)

// fresh is how long a session is safe that has been opened and not used: its client's
// next message may be under way.
const fresh = 10 * time.Second

// idler is a session that nothing has come on since it was opened.
type idler struct {
	key    string
	l      *live
	opened time.Time
}

// opened notes a session that a client has opened here.
func (f *Face) opened(key string, l *live) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[key] == l {
		l.unused = f.unused.PushBack(&idler{key, l, f.Env.Now()})
	}
}

// uses notes that a client has come back with its session, for every process to see.
func (f *Face) uses(ctx context.Context, s *session, l *live) error {
	f.mu.Lock()
	f.isUsed(l)
	f.mu.Unlock()
	if s.Used {
		return nil
	}
	return f.update(ctx, s, func(r *record) { r.Used = true })
}

// isUsed takes a session out of those that are not used; the face's lock is held.
func (f *Face) isUsed(l *live) {
	if l.unused != nil {
		f.unused.Remove(l.unused)
		l.unused = nil
	}
}

// makeRoom lets go of the session that has been unused for the longest, if there are too
// many. Its client has to begin again, as the protocol provides for, and nothing else is
// lost; a flood of initialize does not keep others out. The face's lock is held.
func (f *Face) makeRoom() {
	if len(f.live) < f.Limits.Sessions {
		return
	}
	var first *idler
	if front := f.unused.Front(); front != nil {
		first, _ = front.Value.(*idler)
	}
	if first == nil || f.Env.Now().Sub(first.opened) < fresh {
		return
	}
	f.drop(first.key, first.l)
	f.work.Go(func() { f.expel(first) })
}

// expel ends a session that is not used, unless it is, at another process.
func (f *Face) expel(i *idler) {
	s := &session{key: i.key}
	err := f.read(f.ctx, s)
	if err == nil && !s.Used {
		err = f.Store.Delete(f.ctx, s.key, state.IfRev(s.rev))
	}
	i.l.end(errEnded)
	switch {
	case s.Used, errors.Is(err, state.ErrConflict), errors.Is(err, errUnknownSession), f.ctx.Err() != nil:
		return
	case err != nil:
		f.Logger.WarnContext(f.ctx, "unused session not deleted", "error", port.Reason(err))
		return
	}
	i.l.mu.Lock()
	backend, owner := i.l.backend, i.l.owner
	i.l.mu.Unlock()
	if owner.Session != "" {
		f.Crossing.EndSession(f.ctx, backend, owner)
	}
}
