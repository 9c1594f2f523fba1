package mapping_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// TestUpMissing: a backend's word for what a client lacks is passed on where it is
// true of this client (§1.6, B-P7).
func TestUpMissing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name               string
		code               int64
		data, caps, passed wire.Value
	}{
		{"all three", -32021, `{"requiredCapabilities":{"elicitation":{"url":{}},"sampling":{},"roots":{}}}`, `{}`, `{"requiredCapabilities":{"elicitation":{"url":{}},"sampling":{},"roots":{}}}`},
		{"what is declared is not missing", -32021, `{"requiredCapabilities":{"sampling":{},"roots":{}}}`, `{"roots":{}}`, `{"requiredCapabilities":{"sampling":{}}}`},
		{"null declares nothing", -32021, `{"requiredCapabilities":{"roots":{}}}`, `{"roots":null}`, `{"requiredCapabilities":{"roots":{}}}`},
		{"nothing is missing", -32021, `{"requiredCapabilities":{"roots":{}}}`, `{"roots":{}}`, ""},
		{"no way to ask", -32021, `{"requiredCapabilities":{"extensions":{"x":{}},"tasks":{}}}`, `{}`, ""},
		{"no object", -32021, `{"requiredCapabilities":{"roots":true}}`, `{}`, ""},
		{"no data", -32021, "", `{}`, ""},
		{"another code", -32020, `{"requiredCapabilities":{"roots":{}}}`, `{}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mapping.UpMissing(&jsonrpc.Error{Code: tt.code, Message: "sampling required", Data: tt.data}, tt.caps)
			switch {
			case got == nil && tt.passed == "":
			case got == nil || got.Data != tt.passed || got.Code != -32021 || got.Message != "sampling required":
				t.Errorf("§1.6 got %+v, want data %s", got, tt.passed)
			}
		})
	}
}
