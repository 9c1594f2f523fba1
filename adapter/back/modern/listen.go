package modern

import (
	"context"
	"errors"
	"io"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// maxEarly bounds the notifications that may precede an acknowledgement.
const maxEarly = 64

// Listen implements [port.Back]. It sends the request once; ctx and Times.Probe
// bound the wait for the acknowledgement, and nothing but the network and
// [port.Subscription.Close] ends the subscription after that: the server may
// have nothing to say for days. The errors are those of [Client.Do].
//
// The acknowledgement is taken as it comes: servers exist that name another
// subscription id than the request's and leave notifications out. Its reader
// decides what that is worth.
func (c *Client) Listen(ctx context.Context, call port.Call) (port.Subscription, error) {
	deadline := c.server.Env.Now().Add(c.times.Probe)
	x, failed := c.open(transport.Watch(ctx, c.server.Env, c.times.Probe, deadline), &call)
	if failed != nil {
		return nil, unacknowledged(failed)
	}
	s := &subscription{x: x}
	if failed = s.acknowledge(); failed != nil {
		x.Close()
		return nil, unacknowledged(failed)
	}
	x.Watch().Release()
	return s, nil
}

// unacknowledged names what ran out when a subscription was not acknowledged.
func unacknowledged(failed *transport.Failure) error {
	var upstream *port.UpstreamError
	if errors.As(failed.Err, &upstream) && (errors.Is(failed.Err, ErrTotal) || errors.Is(failed.Err, ErrIdle)) {
		upstream.Err = ErrNotAcknowledged
	}
	return failed.Err
}

// subscription is an open event stream. Next belongs to one goroutine.
type subscription struct {
	x      *exchange
	events *transport.EventReader
	ack    wire.Value
	early  []jsonrpc.Message
	end    error
	result wire.Value
}

// acknowledge waits for the acknowledgement. What overtook it is kept: it tells
// of changes all the same.
func (s *subscription) acknowledge() *transport.Failure {
	if !s.x.Streams() {
		_, failed := outcome(s.x.document())
		if failed == nil {
			failed = s.x.Fail(transport.Final, s.x.Status(), ErrNotAcknowledged)
		}
		return failed
	}
	s.events = s.x.Events()
	for {
		msg, failed := s.x.next(s.events)
		switch {
		case failed != nil:
			return failed
		case msg.Kind == jsonrpc.KindError:
			_, failed = outcome(msg, nil)
			return failed
		case msg.Kind != jsonrpc.KindNotification, len(s.early) == maxEarly:
			return s.x.Fail(transport.Final, s.x.Status(), ErrNotAcknowledged)
		case msg.Method == ext2026.NotificationSubscriptionsAcknowledged:
			s.ack = msg.Params
			return nil
		default:
			s.early = append(s.early, msg)
		}
	}
}

// Acknowledged implements [port.Subscription]. It is absent when the
// acknowledgement had no params.
func (s *subscription) Acknowledged() wire.Value { return s.ack }

// Next implements [port.Subscription]. A stream that ends without the result of
// the request is an error, and one that was closed is [net.ErrClosed].
func (s *subscription) Next() (jsonrpc.Message, error) {
	if len(s.early) > 0 {
		msg := s.early[0]
		s.early = s.early[1:]
		return msg, nil
	}
	if s.end != nil {
		return jsonrpc.Message{}, s.end
	}
	msg, failed := s.x.next(s.events)
	switch {
	case failed == nil && msg.Kind == jsonrpc.KindNotification:
		return msg, nil
	case failed != nil:
		s.end = failed.Err
	case msg.Kind == jsonrpc.KindResult:
		s.end, s.result = io.EOF, msg.Result
	default:
		s.end = msg.Error
	}
	s.Close()
	return jsonrpc.Message{}, s.end
}

// Result is the result with which the subscription has ended gracefully, or absent.
// It belongs to the goroutine of Next.
func (s *subscription) Result() wire.Value { return s.result }

// Close implements [port.Subscription].
func (s *subscription) Close() { s.x.Close() }
