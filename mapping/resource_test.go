package mapping_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/mapping"
)

func TestDownReadError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   jsonrpc.Error
		code int64
	}{
		{"A16 the data names the resource", jsonrpc.Error{Code: -32602, Message: "no", Data: `{"uri":"vein://404"}`}, -32002},
		{"§3.3 the message says it", jsonrpc.Error{Code: -32602, Message: "Resource NOT  found: x"}, -32002},
		{"§3.3 the message says it about another resource", jsonrpc.Error{Code: -32602, Message: "not found", Data: `{"uri":"a:b"}`}, -32002},
		{"§3.3 another resource is none of this", jsonrpc.Error{Code: -32602, Message: "bad", Data: `{"uri":"a:b"}`}, -32602},
		{"§3.3 a uri that is no text", jsonrpc.Error{Code: -32602, Message: "bad", Data: `{"uri":1}`}, -32602},
		{"§3.3 other bad params", jsonrpc.Error{Code: -32602, Message: "uri must be absolute"}, -32602},
		{"§3.3 notfound is no phrase", jsonrpc.Error{Code: -32602, Message: "notfound"}, -32602},
		{"§3.3 other codes stay, whatever they say", jsonrpc.Error{Code: -32603, Message: "Resource not found", Data: `{"uri":"vein://404"}`}, -32603},
		{"§3.3 code 0 of Python servers", jsonrpc.Error{Code: 0, Message: "Resource not found"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := tt.in
			got := mapping.DownReadError(&in, "vein://404")
			want := tt.in
			want.Code = tt.code
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.in, in); diff != "" {
				t.Errorf("the input changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestUpReadError(t *testing.T) {
	t.Parallel()
	in := &jsonrpc.Error{Code: -32002, Message: "Resource not found", Data: `{"uri":"ore://0"}`}
	want := &jsonrpc.Error{Code: -32602, Message: "Resource not found", Data: `{"uri":"ore://0"}`}
	if diff := cmp.Diff(want, mapping.UpReadError(in)); diff != "" {
		t.Errorf("B10 (-want +got):\n%s", diff)
	}
	other := &jsonrpc.Error{Code: -32000, Message: "x"}
	if got := mapping.UpReadError(other); got != other {
		t.Errorf("another error became %v", got)
	}
}
