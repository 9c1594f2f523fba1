package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/taskbridge/taskbridge/adapter"
	"github.com/taskbridge/taskbridge/adapter/config"
)

// openBridge is the opener of the real bridge.
func openBridge(ctx context.Context, cfg *config.Config, logger *slog.Logger, ready func(lines []string)) (runner, error) {
	b, err := adapter.New(ctx, cfg, adapter.Options{
		Logger: logger,
		Ready:  func(r adapter.Ready) { ready(readyLines(cfg, r)) },
	})
	if errors.Is(err, adapter.ErrLocked) {
		err = fmt.Errorf("the store %s is in use by another process; stop that one, or give this one a file of its own: --store embedded:PATH", cfg.Store.Path)
		return nil, &failure{code: exitUsage, err: err}
	}
	if errors.Is(err, adapter.ErrStore) {
		return nil, &failure{code: exitUsage, err: err}
	}
	if err != nil {
		return nil, err
	}
	return listening{b}, nil
}

// listening gives an address that cannot be had the exit code of a wrong
// configuration.
type listening struct{ bridge *adapter.Bridge }

// Run runs the bridge.
func (l listening) Run(ctx context.Context) error {
	err := l.bridge.Run(ctx)
	if errors.Is(err, adapter.ErrListen) {
		return &failure{code: exitUsage, err: err}
	}
	return err
}

// readyLines renders one line for each route and one for the admin address.
func readyLines(cfg *config.Config, r adapter.Ready) []string {
	var lines []string
	for _, route := range r.Routes {
		target := route.Target
		if target == "" {
			target = "in-process demo"
		}
		lines = append(lines, fmt.Sprintf("ready  %s  %s  ->  %s (%s)", route.Face, route.URL, route.Backend, target))
	}
	if r.Admin != "" {
		scheme := "http"
		if cfg.TLS != nil {
			scheme = "https"
		}
		lines = append(lines, fmt.Sprintf("ready  admin  %s://%s", scheme, r.Admin))
	}
	return lines
}
