package jsonrpc_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     jsonrpc.Message
	}{
		{
			"request", ` {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1}} `,
			jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "tools/list", Params: `{"a":1}`},
		},
		{
			"G-2 zero is an id", `{"jsonrpc":"2.0","id":0,"method":"ping"}`,
			jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "0", Method: "ping"},
		},
		{
			"G-2 the empty string is an id", `{"jsonrpc":"2.0","id":"","method":"ping"}`,
			jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: `""`, Method: "ping"},
		},
		{
			"G-2 ids keep type and digits", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`,
			jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "9007199254740993", Method: "ping"},
		},
		{
			"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/initialized"},
		},
		{
			"a null id makes a notification", `{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}`,
			jsonrpc.Message{Kind: jsonrpc.KindNotification, Method: "notifications/initialized"},
		},
		{
			"result", `{"jsonrpc":"2.0","id":-7,"result":{}}`,
			jsonrpc.Message{Kind: jsonrpc.KindResult, ID: "-7", Result: "{}"},
		},
		{
			"error", `{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"no","data":{"k":1e-07}}}`,
			jsonrpc.Message{Kind: jsonrpc.KindError, ID: `"x"`, Error: &jsonrpc.Error{Code: -32602, Message: "no", Data: `{"k":1e-07}`}},
		},
		{
			"error without id", `{"jsonrpc":"2.0","error":{"code":-32700}}`,
			jsonrpc.Message{Kind: jsonrpc.KindError, Error: &jsonrpc.Error{Code: -32700}},
		},
		{
			"error with a null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":1}}`,
			jsonrpc.Message{Kind: jsonrpc.KindError, Error: &jsonrpc.Error{Code: -32700}},
		},
		{
			"unknown members of the envelope", `{"jsonrpc":"2.0","x":{},"id":1,"method":"ping"}`,
			jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: "1", Method: "ping"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jsonrpc.Read([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(jsonrpc.Message{}, "Raw")); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, path string
		id             jsonrpc.ID // that the refusal can echo
		code           int64
	}{
		{"text that is not JSON", `{"jsonrpc":`, "", "", -32700},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "", "", -32600},
		{"no version", `{"id":1,"method":"ping"}`, "jsonrpc", "1", -32600},
		{"version 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "jsonrpc", "1", -32600},
		{"G-2 fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "id", "", -32600},
		{"G-2 integer written as a fraction", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, "id", "", -32600},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "id", "", -32600},
		{"method is a number", `{"jsonrpc":"2.0","id":"a","method":7}`, "method", `"a"`, -32600},
		{"method is empty", `{"jsonrpc":"2.0","id":"a","method":""}`, "method", `"a"`, -32600},
		{"params is an array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, "params", "1", -32602},
		{"params is null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, "params", "1", -32602},
		{"method beside a result", `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, "method", "1", -32600},
		{"method beside an error", `{"jsonrpc":"2.0","id":1,"method":"m","error":{}}`, "method", "1", -32600},
		{"result beside an error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, "", "1", -32600},
		{"nothing to say", `{"jsonrpc":"2.0","id":1}`, "", "1", -32600},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, "id", "", -32600},
		{"result with a null id", `{"jsonrpc":"2.0","id":null,"result":{}}`, "id", "", -32600},
		{"result is no object", `{"jsonrpc":"2.0","id":1,"result":[]}`, "result", "1", -32600},
		{"error with a bad id", `{"jsonrpc":"2.0","id":true,"error":{"code":1}}`, "id", "", -32600},
		{"error is no object", `{"jsonrpc":"2.0","id":1,"error":"no"}`, "error", "1", -32600},
		{"error without code", `{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}`, "error.code", "1", -32600},
		{"error with a fractional code", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5}}`, "error.code", "1", -32600},
		{"duplicate method", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, "method", "", -32600},
		{"duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, "id", "", -32600},
		{"duplicate in the error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2}}`, "error.code", "1", -32600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jsonrpc.Read([]byte(tt.in))
			var decode *wire.DecodeError
			if !errors.As(err, &decode) {
				t.Fatalf("error %v, want a *wire.DecodeError", err)
			}
			if decode.Path != tt.path {
				t.Errorf("error at %q, want %q", decode.Path, tt.path)
			}
			if got.ID != tt.id || got.Kind != 0 {
				t.Errorf("id %q, kind %v, want %q and none", got.ID, got.Kind, tt.id)
			}
			if rpc := jsonrpc.FromDecode(err); rpc.Code != tt.code {
				t.Errorf("code %d, want %d", rpc.Code, tt.code)
			}
		})
	}
}

func TestNullID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":null,"method":"m"}`: true,
		`{"jsonrpc":"2.0","method":"m"}`:           false,
		`{"jsonrpc":"2.0","id":0,"method":"m"}`:    false,
	} {
		msg, err := jsonrpc.Read([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := msg.NullID(); got != want {
			t.Errorf("NullID of %s = %v", in, got)
		}
	}
}

func TestFromDecodeKeepsOtherErrorsToItself(t *testing.T) {
	t.Parallel()
	got := jsonrpc.FromDecode(errors.New("dial tcp 10.0.0.1: refused"))
	if got.Code != jsonrpc.CodeInternal || got.Message != "Internal error" {
		t.Errorf("got %v", got)
	}
	if got := jsonrpc.FromDecode(wire.Wrong("paramsx", "x")); got.Code != jsonrpc.CodeInvalidRequest {
		t.Errorf("a path that only starts like params: %v", got)
	}
}

// FuzzRead proves that reading never panics and that what was read is written
// back as the same message.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":"9007199254740993","method":"tools/call","params":{"arguments":{"seed":12345678901234567890}}}`,
		`{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":0,"result":{"content":[]}}`,
		`{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no","data":[1e-07]}}`,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":""}}`,
		`[]`, `{"id":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		msg, err := jsonrpc.Read(text)
		if err != nil {
			if msg.Kind != 0 {
				t.Fatalf("kind %v beside %v", msg.Kind, err)
			}
			return
		}
		again, err := jsonrpc.Read(write(msg))
		if err != nil {
			t.Fatalf("%s does not read back: %v", write(msg), err)
		}
		if diff := cmp.Diff(msg, again, cmpopts.IgnoreFields(jsonrpc.Message{}, "Raw")); diff != "" {
			t.Fatalf("message (-first +second):\n%s", diff)
		}
	})
}

func write(msg jsonrpc.Message) []byte {
	switch msg.Kind {
	case jsonrpc.KindRequest:
		return jsonrpc.AppendRequest(nil, msg.ID, msg.Method, msg.Params)
	case jsonrpc.KindNotification:
		return jsonrpc.AppendNotification(nil, msg.Method, msg.Params)
	case jsonrpc.KindResult:
		return jsonrpc.AppendResult(nil, msg.ID, []byte(msg.Result))
	default:
		return jsonrpc.AppendError(nil, msg.ID, msg.Error)
	}
}
