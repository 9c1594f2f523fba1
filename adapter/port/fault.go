package port

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
)

// LogFault logs what recover has returned, with the place. Of a value that is not
// the runtime's own only the type is told, since it may hold a payload.
func LogFault(ctx context.Context, logger *slog.Logger, fault any) {
	text := fmt.Sprintf("%T", fault)
	if own, ok := fault.(runtime.Error); ok {
		text = own.Error()
	}
	logger.ErrorContext(ctx, "a fault of the bridge", "fault", text, "stack", string(debug.Stack()))
}
