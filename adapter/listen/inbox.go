package listen

import "github.com/taskbridge/taskbridge/adapter/port"

// What is kept for a client that reads slowly is bounded: beyond these, a change
// counts as one of the whole resource or list, of which nothing else is known, and a task
// is looked at again later.
const (
	// maxParts is how many changes are kept with those of parts of resources.
	maxParts = 256
	// maxKept is the size of what is kept, in bytes.
	maxKept = 1 << 20
)

// inbox is what a subscription has still to be told: of each key the newest, in the
// order in which the keys came.
type inbox struct {
	items map[string]item
	order []string
	size  int
}

// item is a change: a notice, or what is to be told of a task, whole.
type item struct {
	notice port.Notice
	told   []byte
}

// size is how many bytes an item keeps, about.
func (i *item) size() int { return len(i.notice.Key) + len(i.notice.Message.Params) + len(i.told) }

func (b *inbox) put(key string, i item) {
	if b.items == nil {
		b.items = make(map[string]item)
	}
	before, waiting := b.items[key]
	if waiting {
		b.size -= before.size()
	} else {
		b.order = append(b.order, key)
	}
	b.items[key] = i
	b.size += i.size()
}

// take returns everything and leaves nothing.
func (b *inbox) take() []item {
	all := make([]item, len(b.order))
	for i, key := range b.order {
		all[i] = b.items[key]
	}
	*b = inbox{}
	return all
}

// offer keeps a notice if it concerns the subscription; the hub's lock is held.
func (l *listener) offer(n port.Notice) {
	var whole port.ChangeFilter
	part := false
	switch {
	case n.List != port.NoList:
		if !l.filter.Has(n.List) {
			return
		}
		whole.Add(n.List)
	default:
		subscribed := l.concerned(n.URI)
		if subscribed == "" {
			return
		}
		whole.URIs, part = []string{subscribed}, subscribed != n.URI
	}
	i := item{notice: n}
	waiting := len(l.inbox.order)
	if waiting > 0 && l.inbox.size+i.size() > maxKept || part && waiting >= maxParts {
		for _, made := range l.h.Dialect.Synthesize(whole) {
			l.put(made.Key, item{notice: made})
		}
		return
	}
	l.put(n.Key, i)
}

// tell keeps what is to be told of a task, in place of what was, and reports false when
// there is no room: a task can be looked at again. The hub's lock is held.
func (l *listener) tell(key string, i item) (taken bool) {
	waiting := l.inbox.items[key]
	if others := l.inbox.size - waiting.size(); others > 0 && others+i.size() > maxKept {
		return false
	}
	l.put(key, i)
	return true
}

// put keeps an item and wakes the listener; the hub's lock is held.
func (l *listener) put(key string, i item) {
	l.inbox.put(key, i)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// concerned returns the resource of the subscription that a URI is, or is a part
// of, or nothing.
func (l *listener) concerned(uri string) string {
	if _, ok := l.uris[uri]; ok {
		return uri
	}
	for at := 0; at < len(uri) && at <= l.longest; at++ {
		if uri[at] != '/' {
			continue
		}
		for _, whole := range [...]string{uri[:at], uri[:at+1]} {
			if _, ok := l.uris[whole]; ok {
				return whole
			}
		}
	}
	return ""
}

// sift drops the notices that are waiting about resources which turned out not to
// be reported; the hub's lock is held.
func (l *listener) sift() {
	for _, i := range l.inbox.take() {
		l.offer(i.notice)
	}
}
