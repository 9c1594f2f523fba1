package bridge_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// timed is a stream that notes when its messages come.
type timed struct {
	stream
	start time.Time
	told  []string
}

func (s *timed) Send(msg []byte) error {
	params := wire.Value(msg).Get("params")
	s.told = append(s.told, fmt.Sprint(time.Since(s.start), " ", params.Get("progress"), " ", params.Get("message")))
	return nil
}

// TestAlive: progress is made up for a call whose task is driven, with every new
// state and at least every 15 s, however often the task is polled (A-T14).
func TestAlive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, token string
		want        []string
	}{
		{"for a client that asked for it", `,"_meta":{"progressToken":"p"}`, []string{
			`0s 1 "cold"`, `15s 2 "cold"`, `20s 3 "warm"`, `35s 4 "warm"`, `50s 5 "warm"`,
		}},
		{"for no other", ``, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRigWithTasks(t)
				r.backend.DrivePlain = true
				s := &timed{start: time.Now()}
				task := func(members string) wire.Value {
					return wire.Value(`{"resultType":"complete","taskId":"t","createdAt":"2026-09-14T08:00:00Z","lastUpdatedAt":"2026-09-14T08:00:00Z","ttlMs":null,"pollIntervalMs":1000,` + members + `}`)
				}
				r.back.do = func(n int, _ port.Call) (wire.Value, error) {
					switch since := time.Since(s.start); {
					case n == 1:
						return `{"resultType":"task",` + task(`"status":"working","statusMessage":"cold"`)[len(`{"resultType":"complete",`):], nil
					case since < 20*time.Second:
						return task(`"status":"working","statusMessage":"cold"`), nil
					case since < 55*time.Second:
						return task(`"status":"working","statusMessage":"warm"`), nil
					default:
						return task(`"status":"completed","result":{"content":[]}`), nil
					}
				}
				x, _ := exchange("tools/call", wire.Value(`{"name":"a"`+tt.token+`}`))
				x.Stream = s
				if out := r.upgrade.Request(context.WithoutCancel(t.Context()), x); out.Err != nil {
					t.Fatal(out.Err)
				}
				time.Sleep(time.Minute)
				if d := cmp.Diff(tt.want, s.told); d != "" {
					t.Errorf("told (-want +got):\n%s", d)
				}
			})
		})
	}
}
