package port

import (
	"context"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// ChangeList is a list whose changes a backend may announce.
type ChangeList uint8

// The lists.
const (
	NoList ChangeList = iota
	ToolsList
	PromptsList
	ResourcesList
)

// Has reports whether the filter asks for changes of the list.
func (f *ChangeFilter) Has(list ChangeList) bool {
	switch list {
	case ToolsList:
		return f.Tools
	case PromptsList:
		return f.Prompts
	case ResourcesList:
		return f.Resources
	default:
		return false
	}
}

// Add has the filter ask for changes of the list.
func (f *ChangeFilter) Add(list ChangeList) {
	switch list {
	case ToolsList:
		f.Tools = true
	case PromptsList:
		f.Prompts = true
	case ResourcesList:
		f.Resources = true
	case NoList:
	}
}

// Notice is a change at a backend that has sessions, for subscriptions that each
// get a copy of their own. Either List or URI is set.
type Notice struct {
	// Key is equal for notices that replace each other when nobody could be told
	// in time: one per list and per resource.
	Key string
	// List is the list that changed, URI the resource.
	List ChangeList
	URI  string
	// Message is the notification in the backend's era.
	Message jsonrpc.Message
}

// ListenDialect reads what a backend with sessions says about changes, and renders
// it for the subscriptions of a face that has none. All methods are pure.
type ListenDialect interface {
	// Offered returns the lists whose changes a backend announces, and whether its
	// resources can be subscribed to, by the result of initialize. What is not
	// known to be missing counts as offered where that is absent.
	Offered(about wire.Value) (lists ChangeFilter, resources bool)
	// Subscribe is the request to be told of updates of a resource.
	Subscribe(uri string) SessionCall
	// Unsubscribe is the request not to be told of them any more.
	Unsubscribe(uri string) SessionCall
	// Notice reads a notification. It reports false for one that is about no
	// change.
	Notice(msg jsonrpc.Message) (Notice, bool)
	// Synthesize returns one notice for each list and resource of the filter, for
	// a time in which changes may have been missed (Q26).
	Synthesize(filter ChangeFilter) []Notice
	// AppendAcknowledged appends the notification with which the subscription of
	// the request with this id begins (§3.5 B 2).
	AppendAcknowledged(dst []byte, honoured ChangeFilter, id jsonrpc.ID) []byte
	// AppendNotice appends a notice for the subscription (§3.5 B 3).
	AppendNotice(dst []byte, n Notice, id jsonrpc.ID) ([]byte, error)
	// Ended is the graceful end of the subscription (§3.5 B 4).
	Ended(about wire.Value, id jsonrpc.ID) Outcome
}

// Standing is implemented by sessions that know of their standing stream: the one
// on which a backend says what belongs to no request.
type Standing interface {
	// Standing returns once the stream is open, or it is known that the backend
	// offers none, which is reported as false. Neither may show in time: then it
	// counts as offered. Missed is closed when what the backend said may have been
	// lost since: a stream broke, and the next could not go on where it ended.
	Standing(ctx context.Context) (offered bool, missed <-chan struct{})
}
