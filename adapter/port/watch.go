package port

import (
	"context"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// ChangeFilter says which changes of a backend are of interest.
type ChangeFilter struct {
	Tools, Prompts, Resources bool
	// URIs are the resources whose updates are wanted.
	URIs []string
	// TaskIDs are the backend's ids of the tasks whose changes are wanted.
	TaskIDs []string
}

// Change is one notification of a backend about a change.
type Change struct {
	// Key is equal for changes that replace each other when nobody could be
	// told in time: one per list and per resource.
	Key string
	// URI is set for an updated resource.
	URI string
	// Task is the document of a task that changed, TaskID the backend's id of
	// it; the other members are empty then.
	Task   wire.Value
	TaskID string
	// Message is the notification in the face's era, ready to be delivered.
	Message []byte
}

// ChangeStream is an open subscription to the changes of a backend.
type ChangeStream interface {
	// Honoured is the part of the filter that the backend acknowledged.
	Honoured() ChangeFilter
	// Next returns the next change. After the stream has ended it returns an
	// error: io.EOF for a graceful end.
	Next() (Change, error)
	// Close ends the subscription.
	Close()
}

// ChangeSource opens subscriptions at backends.
type ChangeSource interface {
	// Listen opens a subscription with the caller's credential and returns when
	// the backend has acknowledged it.
	Listen(ctx context.Context, backend string, caller Caller, filter ChangeFilter) (ChangeStream, error)
	// Offered returns the lists whose changes the backend announces, and whether
	// resources can be subscribed to.
	Offered(ctx context.Context, backend string, caller Caller) (lists ChangeFilter, resources bool, err error)
	// Synthesize returns one change for each list and resource of the filter,
	// for a time in which changes may have been missed (Q26).
	Synthesize(filter ChangeFilter) []Change
}
