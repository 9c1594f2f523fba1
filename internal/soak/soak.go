package soak

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrUnfit says that the bridge did not bear the load.
var ErrUnfit = errors.New("the bridge does not bear the load")

// sampling is the time between two looks at the memory of the bridge.
const sampling = time.Second

// Run starts the bridge, puts it under load for the time given, and prints the
// figures. It returns [ErrUnfit] when the bridge's memory has passed the ceiling, a
// good client has lost an answer, an idle stream was cut, or something hostile was
// answered in a way that it should not be.
func Run(ctx context.Context, o Options) error {
	s, err := build(ctx, &o)
	if err != nil {
		return err
	}
	t := newTally()
	err = load(ctx, &o, s, t)
	if end := s.stop(); end != nil {
		t.fault("after the load: %v", end)
	}
	t.print(o.Log, &o)
	switch {
	case err != nil:
		return err
	case t.most > o.Ceiling:
		return fmt.Errorf("%w: its memory has passed the ceiling", ErrUnfit)
	case len(t.faults) > 0:
		return fmt.Errorf("%w: %d kinds of fault", ErrUnfit, len(t.faults))
	}
	return nil
}

// load opens the idle streams, then lets good and bad clients at the bridge.
func load(ctx context.Context, o *Options, s *site, t *tally) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	work.Go(func() { watch(ctx, o, s, t) })
	clients := make([]*good, 0, 2*goodClients)
	for n := range goodClients {
		clients = append(clients, legacyClient(t, address(netGood, n), s.address), modernClient(t, address(netGood, n), s.address, n))
	}
	for _, g := range clients {
		work.Go(func() { g.serve(ctx) })
	}
	work.Go(func() { newcomers(ctx, t, s.address) })
	begun := time.Now()
	hold(ctx, t, s.address, o.Streams, &work)
	_, _ = fmt.Fprintf(o.Log, "%d idle streams opened in %v\n", o.Streams, time.Since(begun).Round(time.Second))
	n := 0
	for _, a := range append(attacks(), lasting()...) {
		for range a.workers {
			from := address(netHostile, n)
			h := &hostile{t: t, to: s.address, from: from, http: client(from), n: n}
			work.Go(func() { h.run(ctx, &a) })
			n++
		}
	}
	select {
	case <-time.After(o.For):
	case <-ctx.Done():
	case err := <-s.bridge().done:
		s.bridge().done <- err
		return fmt.Errorf("%w: it has ended: %w", ErrUnfit, errors.Join(err, errors.New("see its log")))
	}
	return context.Cause(ctx)
}

// watch samples what the bridge holds until ctx ends.
func watch(ctx context.Context, o *Options, s *site, t *tally) {
	begun, said := time.Now(), time.Duration(0)
	for ctx.Err() == nil {
		now, most, err := s.bridge().resident()
		if err != nil {
			t.fault("memory not measured: %v", err)
			return
		}
		t.sample(now, most, s.bridge().files())
		if since := time.Since(begun); since-said >= 30*time.Second {
			said = since
			t.mu.Lock()
			_, _ = fmt.Fprintf(o.Log, "%4.0f s: %d MiB resident, %d at most; %d idle streams; %d kinds of fault\n",
				since.Seconds(), now/mib, most/mib, t.streams, len(t.faults))
			t.mu.Unlock()
		}
		select {
		case <-time.After(sampling):
		case <-ctx.Done():
		}
	}
}
