package jsonrpc_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// G-4: exactly the members of the envelope, and none that is absent.
func TestAppend(t *testing.T) {
	t.Parallel()
	failure := &jsonrpc.Error{Code: -32602, Message: "no \"x\"", Data: `{"uri":"a"}`}
	tests := []struct {
		name      string
		got, want string
	}{
		{
			"request", string(jsonrpc.AppendRequest(nil, jsonrpc.IntID(9001), "tools/call", `{"a":1e-07}`)),
			`{"jsonrpc":"2.0","id":9001,"method":"tools/call","params":{"a":1e-07}}`,
		},
		{
			"request without params", string(jsonrpc.AppendRequest(nil, `"x"`, "ping", "")),
			`{"jsonrpc":"2.0","id":"x","method":"ping"}`,
		},
		{
			"notification", string(jsonrpc.AppendNotification(nil, "notifications/x\n", "{}")),
			`{"jsonrpc":"2.0","method":"notifications/x\n","params":{}}`,
		},
		{
			"notification without params", string(jsonrpc.AppendNotification(nil, "notifications/x", "")),
			`{"jsonrpc":"2.0","method":"notifications/x"}`,
		},
		{
			"result", string(jsonrpc.AppendResult(nil, "0", []byte("{}"))),
			`{"jsonrpc":"2.0","id":0,"result":{}}`,
		},
		{
			"error", string(jsonrpc.AppendError(nil, "1", failure)),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no \"x\"","data":{"uri":"a"}}}`,
		},
		{
			"error without id and data", string(jsonrpc.AppendError(nil, "", jsonrpc.NewError(-32600, "no %s", "id"))),
			`{"jsonrpc":"2.0","error":{"code":-32600,"message":"no id"}}`,
		},
		{
			"the buffer is kept", string(jsonrpc.AppendErrorObject([]byte("x"), failure)),
			`x{"code":-32602,"message":"no \"x\"","data":{"uri":"a"}}`,
		},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	if got := failure.Error(); got != `no "x" (code -32602)` {
		t.Errorf("Error() = %s", got)
	}
}
