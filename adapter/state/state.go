package state

import (
	"context"
	"errors"
	"time"
)

// Errors of a [Store]. Implementations wrap them; test with errors.Is.
var (
	// ErrNotFound says that no live record has the key.
	ErrNotFound = errors.New("state: no such record")
	// ErrConflict says that the condition of a write did not hold. Nothing was
	// changed.
	ErrConflict = errors.New("state: condition not met")
	// ErrInvalid says that an argument breaks the contract. Nothing was changed.
	ErrInvalid = errors.New("state: invalid argument")
	// ErrClosed says that the store has been closed.
	ErrClosed = errors.New("state: store is closed")
)

// Rev is the revision of a record. Every write gives the record a revision that
// the key has never had before, even across deletion, expiry and restart, and
// that is larger than all it had. 0 means no record.
type Rev int64

// Record is one entry of a store.
type Record struct {
	// Key names the record. Required. Keys that begin with their time of
	// creation are cheaper to write than random ones: neighbours share a page
	// of the embedded store's index.
	Key string
	// Value is opaque. Nil and empty are the same; Get returns the empty one
	// with length 0.
	Value []byte
	// Rev is set on records read, and ignored on records written.
	Rev Rev
	// Expires is the instant from which on the record does not exist any more,
	// kept to the millisecond (what is finer is cut off). Zero: never.
	Expires time.Time
	// Owner puts the record into that owner's index. Empty: in none.
	Owner string
	// Order is the record's place in its owner's index, compared bytewise. It
	// need not be unique: records of one Order follow each other by Key.
	Order string
}

// Pos is a place in an owner's index, and with that a pagination cursor: places
// are compared by Order, then by Key, both bytewise. The zero Pos is before all
// records.
type Pos struct {
	Order string
	Key   string
}

// Pos returns the record's place in its owner's index.
func (r Record) Pos() Pos { return Pos{Order: r.Order, Key: r.Key} }

// Cond is what a write requires of the record it replaces. The zero Cond is
// [IfAbsent].
type Cond int64

const (
	// IfAbsent requires that no live record has the key.
	IfAbsent Cond = 0
	// Always requires nothing.
	Always Cond = -1
)

// IfRev requires that the record is at exactly revision r. IfRev(0) is
// [IfAbsent].
func IfRev(r Rev) Cond { return Cond(r) }

// Store keeps records, leases and topics. All methods may be called
// concurrently. After Close they return [ErrClosed].
//
// A write is durable and visible to every later read when its method returns
// nil. A method whose ctx ends first returns ctx.Err(), and then a write may or
// may not have happened: the caller must read to know. Any other error but
// ErrConflict, ErrInvalid and a held lease leaves that open too.
//
// A record that has expired is indistinguishable from one that was deleted: no
// read returns it and IfAbsent holds for its key.
type Store interface {
	// Get returns the record, or ErrNotFound. The caller owns the result.
	Get(ctx context.Context, key string) (Record, error)

	// Put writes rec under rec.Key, replacing the whole record including its
	// place in the index, and returns its new revision. It returns ErrConflict
	// if cond does not hold and ErrInvalid for a record that fails Check. A
	// record that has expired already counts as written and is not found.
	//
	// rec.Value belongs to the store from then on and must not be modified, not
	// even after an error.
	Put(ctx context.Context, rec Record, cond Cond) (Rev, error)

	// Delete removes the record. Removing what is not there is no error unless
	// cond is IfRev, which then yields ErrConflict, as IfAbsent does for a
	// record that is there.
	Delete(ctx context.Context, key string, cond Cond) error

	// List returns up to limit live records of owner that come strictly after
	// the given place, in the order of the index. Fewer than limit means that
	// there were no more. Pages chained by the last record's Pos show each
	// record that existed throughout exactly once, whatever is written
	// meanwhile, as long as the record keeps its Order.
	//
	// Values come along, so what is listed should be small. An empty owner or a
	// limit below 1 is ErrInvalid.
	List(ctx context.Context, owner string, after Pos, limit int) ([]Record, error)

	// Acquire takes the lease called name for ttl, or returns a [*HeldError] if
	// anybody holds it, the same holder included. An empty name or holder, or a
	// ttl below a millisecond, is ErrInvalid.
	Acquire(ctx context.Context, name, holder string, ttl time.Duration) (Lease, error)

	// Publish hands payload to the current subscribers of topic, at most once
	// each, and waits for none of them. Messages of one publisher arrive in the
	// order of their publication.
	Publish(ctx context.Context, topic string, payload []byte) error

	// Subscribe starts a subscription: what is published after it has returned
	// is delivered or announced as lost. ctx bounds the call, not the
	// subscription, which must be closed.
	Subscribe(ctx context.Context, topic string) (Subscription, error)

	// Close finishes the writes that are under way, ends subscriptions and
	// releases everything. Leases are not released. Further calls do nothing
	// and return what the first one did.
	Close() error
}
