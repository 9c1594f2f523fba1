package port

import (
	"errors"
	"fmt"
	"testing"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// known is an error of another package that knows what a client gets.
type known struct{}

func (known) Error() string       { return "internals" }
func (known) RPC() *jsonrpc.Error { return &jsonrpc.Error{Code: -32021, Message: "known"} }

func TestErrors(t *testing.T) {
	t.Parallel()
	own := &jsonrpc.Error{Code: 7, Message: "free text", Data: `{"a":1}`}
	for _, tt := range []struct {
		name    string
		err     error
		code    int64
		message string
		reason  string
	}{
		{"a backend's error is passed as it is, and logged by its code", own, 7, "free text", "json-rpc error 7"},
		{"also inside others", fmt.Errorf("x: %w", &UpstreamError{Op: "a", Status: 401, Err: own}), 7, "free text", "json-rpc error 7"},
		{"one that knows", known{}, -32021, "known", "internals"},
		{"malformed input names its path", wire.Wrong("params.a", "b"), -32602, "Invalid params: params.a: want b", "params.a: want b"},
		{"a status", &UpstreamError{Op: "a", Status: 502, Err: errors.New("secret.example")}, -32603, "backend answered HTTP 502", "a: backend answered HTTP 502: secret.example"},
		{"G-6 a call that may have arrived", &UpstreamError{Op: "a", Sent: true, Err: errors.New("x")}, -32603, "upstream connection lost; outcome unknown", "a: x"},
		{"one that has not", &UpstreamError{Op: "a", Err: errors.New("x")}, -32603, "backend unreachable", "a: x"},
		{"anything else", errors.New("secret"), -32603, "Internal error", "secret"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := RPCError(tt.err); got.Code != tt.code || got.Message != tt.message {
				t.Errorf("the client gets %d %q, want %d %q", got.Code, got.Message, tt.code, tt.message)
			}
			if got := Reason(tt.err); got != tt.reason {
				t.Errorf("logged as %q, want %q", got, tt.reason)
			}
		})
	}
	if !IsRefusal(own) || IsRefusal(&UpstreamError{Status: 401, Err: own}) || IsRefusal(errors.New("x")) {
		t.Error("IsRefusal is wrong")
	}
	if IsCode(own, -32602) || !IsCode(fmt.Errorf("x: %w", own), 7) || IsCode(errors.New("x"), 0) {
		t.Error("IsCode is wrong")
	}
}
