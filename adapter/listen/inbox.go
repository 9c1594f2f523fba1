package listen

import "github.com/taskbridge/taskbridge/adapter/port"

// maxParts is how many changes of parts of resources are kept apart for a client
// that reads slowly. Beyond, a change of a part counts as one of the whole.
const maxParts = 256

// inbox is what a subscription has still to be told: of each key the newest, in the
// order in which the keys came.
type inbox struct {
	items map[string]item
	order []string
}

// item is a change: a notice, or what is to be told of a task, whole.
type item struct {
	notice port.Notice
	told   []byte
}

func (b *inbox) put(key string, i item) {
	if _, waiting := b.items[key]; !waiting {
		if b.items == nil {
			b.items = make(map[string]item)
		}
		b.order = append(b.order, key)
	}
	b.items[key] = i
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
	if n.List != port.NoList {
		if l.filter.Has(n.List) {
			l.put(n.Key, item{notice: n})
		}
		return
	}
	subscribed := l.concerned(n.URI)
	switch {
	case subscribed == "":
		return
	case subscribed != n.URI && len(l.inbox.order) >= maxParts:
		for _, whole := range l.h.Dialect.Synthesize(port.ChangeFilter{URIs: []string{subscribed}}) {
			l.put(whole.Key, item{notice: whole})
		}
	default:
		l.put(n.Key, item{notice: n})
	}
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
