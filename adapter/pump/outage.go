package pump

import (
	"context"
	"errors"

	"github.com/taskbridge/taskbridge/adapter/port"
)

// awayError says that the store could not be read.
type awayError struct{ err error }

// Error implements error.
func (e *awayError) Error() string { return "read task record: " + e.err.Error() }

// Unwrap returns why.
func (e *awayError) Unwrap() error { return e.err }

// isAway reports whether err says that the store could not be read.
func isAway(err error) bool {
	var away *awayError
	return errors.As(err, &away)
}

// without returns the state of a backend's task while the store cannot be read, as far
// as the backend alone can tell of it: its handle says where it is, and its end is the
// backend's. What it asks is in the store (B-I3). Nor is a backend believed then that
// does not know a task any more: it may be over, and on record. Otherwise the error is
// that of the store.
func (m *Manager) without(ctx context.Context, r ref, caller port.Caller, cause error) (view, error) {
	rec := m.unrecorded(r)
	l, err := m.attend(r, &rec, caller)
	if err != nil {
		return view{}, err
	}
	return m.shared(ctx, r, func(ctx context.Context) (view, error) {
		if !m.enter() {
			return view{}, errStopped
		}
		defer m.work.Done()
		ctx, cancel := m.bind(ctx, askTime, errAskTime)
		defer cancel()
		if end, known := l.ended(); known {
			return l.over(end), nil // once told, it stands (B-G7)
		}
		doc, st, recent := l.known(false)
		if !recent {
			events := l.happened()
			if doc, err = l.do(ctx, caller, port.TaskGet, nil); err != nil {
				return view{}, m.askedWithout(err, cause)
			}
			if st, err = m.Dialect.Read(doc); err != nil {
				return view{}, err
			}
			l.answered(doc, st, events)
		}
		return m.toldWithout(ctx, l, caller, view{rec: rec, doc: doc, st: st}, cause)
	})
}

// askedWithout is the error where neither backend nor store has told of a task.
func (m *Manager) askedWithout(err, cause error) error {
	if unknownTask(err) {
		return cause
	}
	return m.told(port.TaskGet, err)
}

// toldWithout is what can be said of a task of which the backend has said this.
func (m *Manager) toldWithout(ctx context.Context, l *live, caller port.Caller, v view, cause error) (view, error) {
	v.rec.lifetime(v.st)
	l.attended(&v.rec, caller)
	switch {
	case v.st.Status == port.TaskInputRequired:
		return view{}, cause
	case !v.st.Status.Terminal():
		return v, nil
	}
	var end port.TaskEnd
	if v.st.Status != port.TaskCancelled {
		var err error
		if end, err = m.end(context.WithoutCancel(ctx), l, caller, v.st); err != nil {
			return view{}, m.askedWithout(err, cause)
		}
	}
	return l.over(end), nil
}

// over is the state of a task that is over, and not on record.
func (l *live) over(end port.TaskEnd) view {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fetched == nil {
		l.fetched = &end
	}
	var rec record
	rec.Created = l.ref.created.UnixMilli()
	rec.over(l.doc, *l.fetched)
	return view{rec: rec, doc: l.doc, unkept: true}
}
