package bridge_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// TestLongAnswer: what a client answers is passed on whole, however long it is
// (A-I12).
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	dialect := newRig(t).modern.Dialect("quarry")
	q := port.Question{Key: "k", Request: `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`}
	answer := wire.Value(`{"role":"assistant","content":{"type":"text","text":"` + strings.Repeat(`é\ud83d\ude00`, 1<<20) + `"},"model":"m"}`)
	got, err := dialect.Answer(q, jsonrpc.Message{Kind: jsonrpc.KindResult, ID: "1", Result: answer})
	if err != nil || got != answer {
		t.Errorf("A-I12: %d bytes came of %d, error %v", len(got), len(answer), err)
	}
}
