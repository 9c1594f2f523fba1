package redis

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/taskbridge/taskbridge/adapter/state"
)

const (
	// layout is the version of what is kept. A release that changes it uses
	// other keys.
	layout = "1"
	// buckets is how many slots of a cluster are used. It is part of the layout.
	buckets = 256
	// topicBucket is the slot of all messages.
	topicBucket = "topics"
	// separator is in no name, so what it joins can be told apart again, and it
	// sorts before everything.
	separator = "\x00"
)

// The kinds of key.
const (
	recordKind  = "r"
	counterKind = "n"
	leaseKind   = "l"
	indexKind   = "i" // places of an owner's records, in order
	claimKind   = "c" // places that a writer is about to use
	topicKind   = "t"
)

// keyspace makes the keys of one prefix.
type keyspace struct {
	base string // what all keys begin with
	db   int
}

// bucket returns the bucket of a name. (The library's own hash of slots is not
// used: 256 counters are few, 16384 are not.)
func bucket(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // cannot fail
	return strconv.Itoa(int(h.Sum32() % buckets))
}

func (k keyspace) key(bucket, kind, name string) string {
	return k.base + "{" + bucket + "}:" + kind + ":" + name
}

func (k keyspace) record(key string) string { return k.key(bucket(key), recordKind, key) }
func (k keyspace) lease(name string) string { return k.key(bucket(name), leaseKind, name) }

// counter is the counter of the bucket that name is in.
func (k keyspace) counter(name string) string {
	return k.base + "{" + bucket(name) + "}:" + counterKind
}

// index returns the keys of an owner's index: places and claims.
func (k keyspace) index(owner string) []string {
	b := bucket(owner)
	return []string{k.key(b, indexKind, owner), k.key(b, claimKind, owner)}
}

// channel holds the number of the database because Redis itself does not tell
// the messages of one from those of another.
func (k keyspace) channel(topic string) string {
	return k.key(topicBucket, topicKind, strconv.Itoa(k.db)+":"+topic)
}

// topic undoes channel.
func (k keyspace) topic(channel string) (string, bool) {
	return strings.CutPrefix(channel, k.channel(""))
}

// place is how a record says where it is in the index: the bucket of its owner,
// the owner and the order. Scripts take it apart.
func place(owner, order string) string {
	b := ""
	if owner != "" {
		b = bucket(owner)
	}
	return b + separator + owner + separator + order
}

// splitPlace undoes place.
func splitPlace(text string) (owner, order string, ok bool) {
	_, rest, ok := strings.Cut(text, separator)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, separator)
}

// member is a place's entry in the index. Its bytes sort as places do, because
// the separator is before whatever names are made of.
func member(pos state.Pos) string { return pos.Order + separator + pos.Key }

// splitMember undoes member.
func splitMember(text string) (pos state.Pos, ok bool) {
	pos.Order, pos.Key, ok = strings.Cut(text, separator)
	return pos, ok
}
