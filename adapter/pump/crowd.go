package pump

import "container/list"

// defaultAttended is what [Options] says. A task that is looked after has a session at
// its backend; there must be some left for calls.
const defaultAttended = 2000

// place notes that a task has been asked for, and returns those of its backend that it
// is one too many for: of the others, the ones that nobody has asked for the longest. The
// manager's lock is held.
func (m *Manager) place(l *live) (crowd []*live) {
	order := m.order[l.ref.backend]
	if order == nil {
		order = list.New()
		m.order[l.ref.backend] = order
	}
	if l.spot != nil {
		order.MoveToFront(l.spot)
		return nil
	}
	l.spot = order.PushFront(l)
	excess := order.Len() - m.attended()
	for at := order.Back(); at != nil && excess > 0; at = at.Prev() {
		if other, ok := at.Value.(*live); ok && other != l && other.unneeded() {
			crowd = append(crowd, other)
			excess--
		}
	}
	return crowd
}

func (m *Manager) attended() int {
	if m.Attended > 0 {
		return m.Attended
	}
	return defaultAttended
}

// remove takes a task out of those that are looked after. The manager's lock is held.
func (m *Manager) remove(l *live) {
	if m.tasks[l.ref.serial] == l {
		delete(m.tasks, l.ref.serial)
	}
	if order := m.order[l.ref.backend]; l.spot != nil {
		order.Remove(l.spot)
		l.spot = nil
		if order.Len() == 0 {
			delete(m.order, l.ref.backend)
		}
	}
}

// unneeded reports whether nothing is lost when this process looks after the task no
// more: everything about it is on record or at the backend. A hosted task is nowhere
// else.
func (l *live) unneeded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ref.kind != kindHosted && len(l.watchers) == 0 && !l.handing && l.fetched == nil && l.early == nil &&
		len(l.lending) == 0 && len(l.giving) == 0
}

// leave leaves a task to itself. It lives on at the backend, in a session that is not
// ended there, and is looked after again once somebody asks for it, as after a restart.
func (m *Manager) leave(l *live) {
	if unpin := m.let(l, true); unpin != nil {
		unpin()
	}
}
