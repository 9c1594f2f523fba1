package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/taskbridge/taskbridge/adapter/state"
)

var (
	// ErrUnavailable says that Redis cannot be reached, or not now. A write that
	// fails with it has not happened.
	ErrUnavailable = errors.New("state/redis: not available")
	// ErrUncertain says that the connection failed after a write had been sent,
	// so that it may or may not have happened.
	ErrUncertain = errors.New("state/redis: the outcome of a write is unknown")
	// ErrSetup says that Redis answers, or would, and waiting does not help: a
	// wrong password, a certificate that is not trusted, a server that is too
	// old or of the wrong kind.
	ErrSetup = errors.New("state/redis: cannot be used")
)

// dialError marks what failed before anything was sent.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// fail says what err means for the caller of a method. written tells that the
// call was a write, whose outcome matters.
func (s *Store) fail(ctx context.Context, op string, written bool, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.ErrClosed) && s.isClosed():
		return state.ErrClosed
	case s.over(ctx) != nil:
		return s.over(ctx)
	case errors.Is(err, ErrUnavailable):
		return fmt.Errorf("%s: %w", op, err)
	case isReply(err) && !transient(err):
		return fmt.Errorf("state/redis: %s: %w", op, err)
	case written && !unsent(err):
		return fmt.Errorf("%w: %s: %w", ErrUncertain, op, err)
	default:
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, op, err)
	}
}

// over returns why a call's context has ended, if it has. Connections have the
// deadline of the call and may notice it a moment before the context does.
func (s *Store) over(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil && !s.env.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// isReply reports whether the server answered with an error, which means that
// it has not carried out what it was asked.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// The answers of a server that cannot serve now and will.
var transientReplies = []string{"LOADING ", "MASTERDOWN ", "CLUSTERDOWN ", "READONLY ", "TRYAGAIN ", "NOREPLICAS ", "BUSY ", "MOVED ", "ASK "}

func transient(err error) bool { return replies(err, transientReplies...) }

// replies reports whether the server answered with an error that begins with
// one of the words.
func replies(err error, words ...string) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	for _, word := range words {
		if strings.HasPrefix(reply.Error(), word) {
			return true
		}
	}
	return false
}

// unsent reports whether the error shows that the command never left.
func unsent(err error) bool {
	var dial *dialError
	return errors.As(err, &dial) || isReply(err) || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrClosed)
}

// cut reports whether a connection broke, which a read may try again.
func cut(err error) bool {
	var timeout net.Error
	if isReply(err) || (errors.As(err, &timeout) && timeout.Timeout()) {
		return false
	}
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || (errors.As(err, &op) && !unsent(err))
}

// unreachable reports whether an error means that further calls would only
// wait: nobody answers, or nobody is there.
func unreachable(err error) bool {
	var dial *dialError
	var timeout net.Error
	switch {
	case err == nil, isReply(err), errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrClosed):
		return false
	case errors.As(err, &dial), errors.Is(err, context.DeadlineExceeded):
		return true
	default:
		return errors.As(err, &timeout) && timeout.Timeout()
	}
}

// hopeless reports whether an error calls for the operator: it will be the same
// the next time.
func hopeless(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "remote error": // what crypto/tls calls an alert of the other end
		return true
	case errors.Is(err, ErrSetup), errors.As(err, &untrusted), errors.As(err, &plain), errors.As(err, &unknown):
		return true
	case replies(err, "NOAUTH ", "WRONGPASS ", "NOPERM ", "ERR AUTH ", "ERR invalid password", "ERR DB index", "ERR unknown command",
		"ERR Client sent AUTH"):
		return true
	case errors.Is(err, redis.Nil): // sentinels, about a name
		return true
	default:
		// The other end speaks something else.
		return err != nil && strings.Contains(err.Error(), "redis: can't parse")
	}
}
