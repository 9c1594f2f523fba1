package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// levels are the words of --log-level.
var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// logger makes the log on standard error: from the level upwards, which was
// written as origin says.
func (a *app) logger(word, origin string) (*slog.Logger, *config.Problem) {
	level, ok := levels[word]
	if !ok {
		return nil, &config.Problem{Source: origin, Message: "want debug, info, warn or error"}
	}
	opts := &slog.HandlerOptions{Level: level}
	if isTerminal(a.err) {
		return slog.New(slog.NewTextHandler(a.err, opts)), nil
	}
	return slog.New(slog.NewJSONHandler(a.err, opts)), nil
}

// isTerminal reports whether a person reads what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
