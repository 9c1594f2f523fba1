package adapter

import (
	"context"
	"fmt"

	"github.com/taskbridge/taskbridge/adapter/back/legacy"
	"github.com/taskbridge/taskbridge/adapter/back/transport"
	"github.com/taskbridge/taskbridge/adapter/bridge"
	"github.com/taskbridge/taskbridge/adapter/handle"
	"github.com/taskbridge/taskbridge/adapter/leak"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
	"github.com/taskbridge/taskbridge/adapter/seal"
)

// ownEra reports whether a backend is of an era.
func ownEra(backends []*backend, era probe.Era) func(context.Context, string, port.Caller) (bool, error) {
	byName := make(map[string]*backend, len(backends))
	for _, be := range backends {
		byName[be.cfg.Name] = be
	}
	return func(ctx context.Context, name string, caller port.Caller) (bool, error) {
		be := byName[name]
		if be == nil {
			return false, nil // the crossing knows none either, and says so
		}
		v, err := be.era.Verdict(ctx, be.authorization(caller))
		return v.Era == era, err
	}
}

// book is where the tasks are written down that do not cross, by face.
func (b *Bridge) book(keys *seal.Keys, face string) (*handle.Book, error) {
	return handle.New(handle.Options{Keys: keys, Store: b.store, Env: b.env, Face: face, Retention: b.cfg.Times.ListRetention})
}

// passLegacy connects the legacy face to backends of its own era.
func (b *Bridge) passLegacy(keys *seal.Keys, backends []*backend) (*bridge.PassLegacy, error) {
	handles, err := b.book(keys, "legacy")
	if err != nil {
		return nil, err
	}
	clients := make([]*bridge.SessionBackend, len(backends))
	for i, be := range backends {
		back := legacy.New(legacy.Options{
			URL: be.target, HTTP: be.http, Env: b.env, Logger: b.logger, Filter: leak.LegacyOwn(b.logger).Apply,
			Limits: transport.Limits{Result: b.cfg.Limits.Result, Memory: b.budget},
			Times:  legacy.Times{Idle: b.cfg.Times.CallIdle, Total: b.cfg.Times.CallTotal},
		})
		b.stops = append(b.stops, back.CloseIdle)
		clients[i] = &bridge.SessionBackend{
			Name: be.cfg.Name, Back: back, Authorization: be.authorization, Contradict: be.era.Contradict,
		}
	}
	return bridge.NewPassLegacy(bridge.PassLegacyOptions{Backends: clients, Handles: handles, Keys: keys, Env: b.env, Logger: b.logger}), nil
}

// passModern connects the modern face to backends of its own era.
func (b *Bridge) passModern(keys *seal.Keys, backends []*backend) (*bridge.PassModern, error) {
	handles, err := b.book(keys, "modern")
	if err != nil {
		return nil, err
	}
	clients := make([]*bridge.Backend, len(backends))
	for i, be := range backends {
		if clients[i], err = b.modernBackend(be, leak.ModernOwn(b.logger)); err != nil {
			return nil, fmt.Errorf("backend %s: %w", be.cfg.Name, err)
		}
	}
	modern, err := bridge.NewModern(b.logger, b.env, clients)
	if err != nil {
		return nil, fmt.Errorf("backends: %w", err)
	}
	return bridge.NewPassModern(modern, handles), nil
}
