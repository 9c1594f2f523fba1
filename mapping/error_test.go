package mapping_test

import (
	"errors"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

// TestErrorsNameTheirMessage: whichever translation gives up, its error says in
// which direction, on which method and member, and why.
func TestErrorsNameTheirMessage(t *testing.T) {
	t.Parallel()
	newer := discovered(t, `{"supportedVersions":["2027-01-01"],"capabilities":{}}`)
	created := modernResult(t, ext2026.MethodToolsCall, `{"resultType":"task"}`)
	tests := []struct {
		name string
		do   func() error
		want mapping.Error // Err is compared with errors.Is; nil is a *wire.DecodeError
	}{
		{"A-L5 no common revision", func() error {
			_, _, err := mapping.AppendDownInitialize(nil, newer, mapping.InitializeOptions{})
			return err
		}, mapping.Error{Dir: mapping.Down, Method: ext2026.MethodServerDiscover, Path: "result.supportedVersions", Err: mapping.ErrNoCounterpart}},
		{"G-15 a task where a complete result is due", func() error {
			_, _, err := mapping.AppendDownResult(nil, ext2026.MethodToolsCall, created, mapping.ResultOptions{})
			return err
		}, mapping.Error{Dir: mapping.Down, Method: ext2026.MethodToolsCall, Path: "result.resultType", Err: mapping.ErrResultType}},
		{"G-15 a type that nobody knows", func() error {
			_, err := mapping.ReadDownResult(ext2026.MethodPromptsGet, `{"resultType":"partial"}`)
			return err
		}, mapping.Error{Dir: mapping.Down, Method: ext2026.MethodPromptsGet, Path: "result.resultType", Err: mapping.ErrResultType}},
		{"a malformed answer of a modern server", func() error {
			_, err := mapping.ReadDownDiscover(`{"supportedVersions":[]}`)
			return err
		}, mapping.Error{Dir: mapping.Down, Method: ext2026.MethodServerDiscover, Path: "result.capabilities"}},
		{"a malformed answer of a legacy server", func() error {
			_, err := mapping.ReadUpInitialize(`{"protocolVersion":"2025-11-25","capabilities":{}}`)
			return err
		}, mapping.Error{Dir: mapping.Up, Method: legacy2025.MethodInitialize, Path: "result.serverInfo"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.do()
			var got *mapping.Error
			if !errors.As(err, &got) || got.Dir != tt.want.Dir || got.Method != tt.want.Method || got.Path != tt.want.Path {
				t.Fatalf("got %v, want %s %s: %s", err, tt.want.Dir, tt.want.Method, tt.want.Path)
			}
			var decode *wire.DecodeError
			if tt.want.Err != nil && !errors.Is(err, tt.want.Err) || tt.want.Err == nil && !errors.As(err, &decode) {
				t.Errorf("got %v, want %v", err, tt.want.Err)
			}
		})
	}
}

func TestDirections(t *testing.T) {
	t.Parallel()
	if up, down := mapping.Up.String(), mapping.Down.String(); up != "up" || down != "down" {
		t.Errorf("the directions are called %q and %q", up, down)
	}
}
