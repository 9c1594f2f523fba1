package mapping_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// halfKiB is the params of a call of about 0.5 KiB.
var halfKiB = wire.Value(`{"name":"sieve","arguments":{"seed":12345678901234567890,"text":"` + strings.Repeat("dig ", 90) +
	`","nested":{"a":[1,2,3],"b":true}},"_meta":{"progressToken":5,"com.acme/trace":"x"}}`)

// oneKiB is the result of a call of about 1 KiB.
var oneKiB = wire.Value(`{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("dig ", 220) +
	`"}],"structuredContent":{"n":3},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"quarry","version":"9.0.2"},"com.acme/cost":1e-07}}`)

func BenchmarkAppendUpParams(b *testing.B) {
	env, buf := orbitEnvelope(), make([]byte, 0, 4096)
	b.ReportAllocs()
	b.SetBytes(int64(len(halfKiB)))
	for b.Loop() {
		if _, _, err := mapping.AppendUpParams(buf[:0], ext2026.MethodToolsCall, halfKiB, env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendDownResult(b *testing.B) {
	in, buf := modernResult(b, ext2026.MethodToolsCall, oneKiB), make([]byte, 0, 4096)
	b.ReportAllocs()
	b.SetBytes(int64(len(oneKiB)))
	for b.Loop() {
		if _, _, err := mapping.AppendDownResult(buf[:0], ext2026.MethodToolsCall, in, mapping.ResultOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadDownResult(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mapping.ReadDownResult(ext2026.MethodToolsCall, oneKiB); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendDownToolsList(b *testing.B) {
	const tool = `{"name":"assay","description":"Assays a site","inputSchema":{"type":"object","properties":{"site":{"type":"string","x-mcp-header":"Site"},` +
		`"depth":{"type":"integer"},"opts":{"type":"object","properties":{"deep":{"type":"boolean"}},"additionalProperties":false}},"required":["site"]}}`
	in := modernResult(b, ext2026.MethodToolsList, wire.Value(`{"tools":[`+strings.Repeat(tool+",", 49)+tool+`]}`))
	b.ReportAllocs()
	b.SetBytes(int64(len(in.Raw())))
	for b.Loop() {
		if _, _, _, err := mapping.AppendDownToolsList(nil, in, mapping.ResultOptions{Tasks: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// A translation into a buffer that is large enough allocates for its views alone:
// one for params, one for _meta.
func TestAllocations(t *testing.T) {
	env, buf := orbitEnvelope(), make([]byte, 0, 4096)
	result := modernResult(t, ext2026.MethodToolsCall, oneKiB)
	for name, run := range map[string]func() error{
		"AppendUpParams": func() error {
			_, _, err := mapping.AppendUpParams(buf[:0], ext2026.MethodToolsCall, halfKiB, env)
			return err
		},
		"AppendDownResult": func() error {
			_, _, err := mapping.AppendDownResult(buf[:0], ext2026.MethodToolsCall, result, mapping.ResultOptions{})
			return err
		},
	} {
		if got := testing.AllocsPerRun(100, func() {
			if err := run(); err != nil {
				t.Error(err)
			}
		}); got > 2 {
			t.Errorf("%s: %v allocations, want no more than 2", name, got)
		}
	}
}
