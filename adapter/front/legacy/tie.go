package legacy

import (
	"errors"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// tie is what a crossing gets that has a session of its own for this one, and nil
// for any other.
func (f *Face) tie(l *live, s *session) *port.Tie {
	if s.Kept == "" {
		return nil
	}
	return &port.Tie{
		Over: l.over, Lose: func() { f.lose(s.key) },
		Renew: func(data string) { f.renew(s.key, s.Kept, data) },
	}
}

// renew keeps other data with a session than before.
func (f *Face) renew(key, before, data string) {
	f.spawn(func() {
		s := &session{key: key}
		err := f.read(f.ctx, s)
		if err == nil && s.Kept == before {
			err = f.update(f.ctx, s, func(r *record) {
				if r.Kept == before {
					r.Kept = data
				}
			})
		}
		if err != nil && !errors.Is(err, errUnknownSession) && f.ctx.Err() == nil {
			f.Logger.WarnContext(f.ctx, "what is kept with a session was not renewed", "error", err) // the next process tries again
		}
	})
}

// opening is the tie of a session that is being opened.
func (f *Face) opening(l *live, s *session) *port.Tie {
	return &port.Tie{
		Over: l.over, Lose: func() { f.lose(s.key) },
		Keep: func(data string) {
			s.Kept = data
			l.tied.Store(data != "")
		},
	}
}

// lose ends a session whose counterpart at the backend is gone. Its client is told
// so with its next message.
func (f *Face) lose(key string) {
	f.spawn(func() {
		if err := f.Store.Delete(f.ctx, key, state.Always); err != nil && f.ctx.Err() == nil {
			f.Logger.WarnContext(f.ctx, "lost session not deleted", "error", err)
		}
		f.end(key)
	})
}

// agree takes over the revision that the backend has chosen, if it is one that
// clients may have: without a translation it is not the face's to choose.
func (s *session) agree(out port.Outcome) {
	if version, _ := out.Result.Get("protocolVersion").Text(); s.Kept != "" && legacy2025.Supported(version) {
		s.Version = version
	}
}

// filter is the last look at what the session's client gets.
func (l *live) filter(method string, msg []byte) []byte {
	if l.tied.Load() && l.f.OwnEra != nil {
		return l.f.OwnEra(method, msg)
	}
	return l.f.Filter(method, msg)
}
