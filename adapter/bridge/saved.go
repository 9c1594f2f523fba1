package bridge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/task"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// savedCall is a tools/call that waits for answers, as a task's record keeps it
// (A-M8): whoever has them goes on with it, in this process or another. Raw JSON is
// kept in strings, so that encoding it changes no byte. The credential is not
// kept: it is that of the answer (A-H4).
type savedCall struct {
	Params       string `json:"params"`
	State        string `json:"state,omitempty"` // requestState
	Round        int    `json:"round"`           // how often it has asked
	Version      string `json:"version"`
	ClientInfo   string `json:"clientInfo"`
	Capabilities string `json:"capabilities"`
	LogLevel     string `json:"logLevel,omitempty"`
}

// next is the call after the server has asked once more.
func (c savedCall) next(caller port.Caller, state wire.Value) ([]byte, error) {
	c.State, c.Round = string(state), c.Round+1
	c.Version, c.LogLevel = caller.Version, caller.LogLevel
	c.ClientInfo, c.Capabilities = string(caller.ClientInfo), string(caller.Capabilities)
	out, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("save a call: %w", err)
	}
	return out, nil
}

// Resume goes on with a saved call, for task.Options. The caller is who has given
// the last answer.
func (u *Upgrade) Resume(ctx context.Context, backend string, caller port.Caller, resumption task.Resumption) task.Ending {
	b, err := u.modern.backend(backend)
	if err != nil {
		return task.Ending{Err: err}
	}
	var call savedCall
	if err := json.Unmarshal(resumption.Saved, &call); err != nil {
		return task.Ending{Err: fmt.Errorf("read a saved call: %w", err)}
	}
	if !resumption.Fresh {
		call.Round-- // what only repeats a question does not count
	}
	caller.Version, caller.LogLevel = call.Version, call.LogLevel
	caller.ClientInfo, caller.Capabilities = wire.Value(call.ClientInfo), wire.Value(call.Capabilities)
	x := &port.Exchange{
		Backend: backend, Caller: caller,
		Message: jsonrpc.Message{Kind: jsonrpc.KindRequest, Method: ext2026.MethodToolsCall, Params: wire.Value(call.Params)},
	}
	return u.ending(ctx, u.modern.begin(b, x, true), call, repetition(wire.Value(call.State), resumption.Answers))
}
