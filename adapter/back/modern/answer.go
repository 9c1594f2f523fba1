package modern

import (
	"io"

	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// outcome turns a response into the result of the request or its error.
func outcome(msg jsonrpc.Message, failed *transport.Failure) (wire.Value, *transport.Failure) {
	switch {
	case failed != nil:
		return "", failed
	case msg.Kind == jsonrpc.KindError:
		return "", &transport.Failure{Err: msg.Error, Sent: true}
	default:
		return msg.Result, nil
	}
}

// document reads an answer that is one JSON document.
func (x *exchange) document() (jsonrpc.Message, *transport.Failure) {
	var msg jsonrpc.Message
	failed := x.Document(func(text []byte) *transport.Failure {
		var err error
		if msg, err = jsonrpc.Read(text); err != nil {
			return x.Invalid(err)
		}
		return x.own(&msg)
	})
	return msg, failed
}

// own checks that msg is the response to this request. Its id is compared as
// bytes: an id of the wrong type is another id. An error that the server could
// not attribute to a request can only be about this one.
func (x *exchange) own(msg *jsonrpc.Message) *transport.Failure {
	switch {
	case msg.Kind == jsonrpc.KindResult && msg.ID == x.id,
		msg.Kind == jsonrpc.KindError && (msg.ID == x.id || msg.ID == ""):
		return nil
	default:
		return x.Invalid(nil)
	}
}

// next returns the next notification, or the response, of an event stream.
// What cannot be understood is skipped, for it may be anything but a response
// to this request; so are requests, which this revision's servers may not send
// and nobody may answer (A-U4).
func (x *exchange) next(events *transport.EventReader) (jsonrpc.Message, *transport.Failure) {
	for {
		text, err := events.Next()
		switch {
		case err == io.EOF: //nolint:errorlint // never wrapped: wrapped it would be the transport's
			return jsonrpc.Message{}, x.Lost(ErrNoResponse)
		case err == ErrTooLarge, err == port.ErrNoRoom: //nolint:errorlint // as above
			return jsonrpc.Message{}, x.Fail(transport.Final, x.Status(), err)
		case err != nil:
			return jsonrpc.Message{}, x.Lost(err)
		}
		msg, err := jsonrpc.Read(text)
		switch {
		case err != nil && msg.ID == x.id:
			return msg, x.Invalid(err)
		case err != nil:
			x.Ignored("unreadable message")
		case msg.Kind == jsonrpc.KindRequest:
			x.Ignored("request")
		case msg.Kind == jsonrpc.KindNotification:
			return msg, nil
		default:
			return msg, x.own(&msg)
		}
	}
}
