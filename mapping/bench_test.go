package mapping_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// benchTask is a task object of about 0.5 KiB, as servers send them.
const (
	benchModern wire.Value = `{"resultType":"complete","taskId":"zq3dXAtG0NnS4gTQ8Yw1mQ4XbHqk2m6cFvJp5rUe7sA","status":"working","statusMessage":"grinding: 1200 of 3000 parts",` +
		`"createdAt":"2026-09-14T08:00:00.123456+00:00","lastUpdatedAt":"2026-09-14T08:12:31.654321+00:00","ttlMs":900000,"pollIntervalMs":5000,` +
		`"com.acme/progress":{"done":1200,"total":3000,"unit":"parts"},"com.acme/lane":"north-3",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"quarry","version":"9.0.2"},"com.acme/trace":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}`
	benchLegacy wire.Value = `{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840","status":"working","statusMessage":"grinding: 1200 of 3000 parts",` +
		`"createdAt":"2026-09-14T08:00:00.123Z","lastUpdatedAt":"2026-09-14T08:12:31.654Z","ttl":900000,"pollInterval":5000,` +
		`"com.acme/progress":{"done":1200,"total":3000,"unit":"parts"},"com.acme/lane":"north-3","parentTaskId":"50d2e9a3-66f4-4b7c-9d2a-f2c9a4f0b311",` +
		`"_meta":{"com.acme/trace":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","com.acme/run":"r-2026-09-14-000318"}}`
	benchHandle = "b1.Zm9yLXRlc3RzLW9ubHktdGhpcy1pcy1ub3QtYS1yZWFsLWhhbmRsZS1idXQtYXMtbG9uZy1hcy1vbmU"
)

// benchmarks are the translations of one task, reading excluded.
func benchmarks(t testing.TB) map[string]func(dst []byte) []byte {
	t.Helper()
	modern, legacy := modernTask(t, benchModern), legacyTask(t, benchLegacy)
	created, err := mapping.ReadUpCreateTask(`{"task":` + benchLegacy + `}`)
	if err != nil {
		t.Fatal(err)
	}
	done := modernTask(t, wire.Value(strings.Replace(string(benchModern), `"working"`, `"completed","result":{"content":[{"type":"text","text":"`+
		strings.Repeat("x", 400)+`"}],"isError":false,"resultType":"complete"}`, 1)))
	return map[string]func([]byte) []byte{
		"DownTask": func(dst []byte) []byte {
			out, _, _ := mapping.AppendDownTask(dst, modern, benchHandle, mapping.TaskOptions{})
			return out
		},
		"DownCreateTask": func(dst []byte) []byte {
			out, _, _ := mapping.AppendDownCreateTask(dst, modern, benchHandle, mapping.TaskOptions{})
			return out
		},
		"DownTaskStatus": func(dst []byte) []byte {
			out, _, _ := mapping.AppendDownTaskStatus(dst, modern, benchHandle, mapping.TaskOptions{})
			return out
		},
		"DownTaskPayload": func(dst []byte) []byte {
			out, _, _ := mapping.AppendDownTaskPayload(dst, done, benchHandle, mapping.ResultOptions{})
			return out
		},
		"UpTask": func(dst []byte) []byte {
			out, _, _ := mapping.AppendUpTask(dst, legacy, benchHandle, mapping.UpTaskOptions{ServerInfo: `{"name":"s","version":"1"}`})
			return out
		},
		"UpCreateTask": func(dst []byte) []byte {
			out, _, _ := mapping.AppendUpCreateTask(dst, created, benchHandle, mapping.UpTaskOptions{})
			return out
		},
	}
}

func BenchmarkTask(b *testing.B) {
	for name, translate := range benchmarks(b) {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 4<<10)
			b.ReportAllocs()
			for b.Loop() {
				buf = translate(buf[:0])
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

// TestTranslatingATaskAllocatesLittle holds the bound of two allocations for a task
// object, into a buffer with room.
func TestTranslatingATaskAllocatesLittle(t *testing.T) {
	bounds := map[string]float64{"DownTaskPayload": 4} // it reads the result within
	for name, translate := range benchmarks(t) {
		bound, ok := bounds[name]
		if !ok {
			bound = 2
		}
		buf := make([]byte, 0, 4<<10)
		if got := testing.AllocsPerRun(100, func() { buf = translate(buf[:0]) }); got > bound {
			t.Errorf("%s: %v allocations, at most %v", name, got, bound)
		}
	}
}
