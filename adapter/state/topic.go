package state

// MinBuffer is the number of messages that a subscription keeps, at least, for
// a subscriber that does not read, before it begins to lose some.
const MinBuffer = 64

// Event is what a subscription delivers.
type Event struct {
	// Payload is one message. It is shared between subscribers and must not be
	// modified.
	Payload []byte
	// Lagged says that, at this place of the stream, messages were lost because
	// the subscriber was too slow or was cut off for a while. Payload is nil.
	// The subscriber must look at the records to learn what it missed.
	Lagged bool
}

// Subscription is a stream of the messages of one topic.
type Subscription interface {
	// Events delivers messages in order. It is closed when the subscription or
	// the store is; what was buffered by then can still be read.
	Events() <-chan Event

	// Close ends the subscription. Further calls do nothing.
	Close()
}
