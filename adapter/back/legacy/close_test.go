package legacy_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

func second(_ wire.Value, err error) error { return err }

func TestCloseIsBounded(t *testing.T) {
	t.Run("G-8 a silent server does not hold it up", func(t *testing.T) {
		bubble(t, script{"DELETE": (*call).hold}, nil, func(t *testing.T, f *fake) {
			s := f.open()
			begun := time.Now()
			s.Close(t.Context())
			if took := time.Since(begun); took != 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	})
	t.Run("B-U5 nothing is sent when there is no time any more", func(t *testing.T) {
		bubble(t, nil, nil, func(t *testing.T, f *fake) {
			s := f.open()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			s.Close(ctx)
			f.want("DELETE", 0)
		})
	})
	t.Run("what is under way fails", func(t *testing.T) {
		held := map[string]func(x *call){
			"before the head": (*call).hold,
			"within a stream": func(x *call) { x.stream(named("e1", note("a"))); x.hold() },
			"between streams": func(x *call) { x.stream("id: e1\nretry: 60000\ndata:\n\n") },
		}
		for name, answer := range held {
			t.Run(name, func(t *testing.T) {
				bubble(t, script{"tools/call": answer}, nil, func(t *testing.T, f *fake) {
					s := f.open()
					failed := make(chan error)
					go func() { failed <- second(s.Do(t.Context(), tool())) }()
					synctest.Wait()
					s.Close(t.Context())
					err := <-failed
					if got := upstream(t, err); !got.Sent || !errors.Is(err, net.ErrClosed) {
						t.Errorf("error %v", err)
					}
				})
			})
		}
	})
	t.Run("no stream is read on behind a response", func(t *testing.T) {
		s := script{"tools/call": func(x *call) { x.stream(event(response(string(x.msg.ID), "{}"))); x.hold() }}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			s := f.open()
			do(t, s, tool())
			begun := time.Now()
			s.Close(t.Context())
			if took := time.Since(begun); took != 0 {
				t.Errorf("took %v", took)
			}
		})
	})
	t.Run("a race of everything", func(t *testing.T) {
		s := script{
			"GET":        func(x *call) { x.stream(event(request("1", "ping")), named("e", note("a"))) },
			"tools/call": func(x *call) { x.stream(event(request("2", "ping")), event(response(string(x.msg.ID), "{}"))) },
		}
		bubble(t, s, nil, func(t *testing.T, f *fake) {
			for range 20 {
				s := f.open()
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() { _, _ = s.Do(t.Context(), tool()) })
					wg.Go(func() { _ = s.Notify(t.Context(), "notifications/x", "") })
					wg.Go(func() { s.Close(t.Context()) })
				}
				wg.Wait()
				s.Close(t.Context())
			}
			f.want("DELETE", 20)
		})
	})
}
