package ext2026_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestMissingCapabilities(t *testing.T) {
	t.Parallel()
	const tasks = "extensions.io.modelcontextprotocol/tasks"
	for data, want := range map[wire.Value]ext2026.Missing{
		`{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`:                          {Paths: []string{tasks}, OnlyTasks: true},
		`{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{},"com.acme/x":{}}}}`:          {Paths: []string{tasks, "extensions.com.acme/x"}},
		`{"requiredCapabilities":{"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`:            {Paths: []string{"sampling", tasks}},
		`{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{"url":{}}}}`: {Paths: []string{tasks, "elicitation.url"}},
		`{"requiredCapabilities":{"extensions":{"com.acme/x":{}}}}`:                                             {Paths: []string{"extensions.com.acme/x"}},
		`{"requiredCapabilities":{"elicitation":{"form":{},"url":{}},"roots":true}}`:                            {Paths: []string{"elicitation.form", "elicitation.url", "roots"}},
		`{"requiredCapabilities":{"extensions":{}}}`:                                                            {}, `{"requiredCapabilities":{}}`: {}, `{"requiredCapabilities":7}`: {}, `{}`: {}, ``: {}, `[1]`: {},
	} {
		if diff := cmp.Diff(want, ext2026.MissingCapabilities(data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", data, diff)
		}
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `,"c%d":{}`, i)
	}
	got := ext2026.MissingCapabilities(wire.Value(`{"requiredCapabilities":{"a":{}` + many.String() + `}}`))
	if len(got.Paths) != 16 || got.Paths[0] != "a" || got.Paths[15] != "c14" {
		t.Errorf("a hostile error names %d capabilities", len(got.Paths))
	}
}

func TestSupportedVersions(t *testing.T) {
	t.Parallel()
	for data, want := range map[wire.Value][]string{
		`{"supported":["2026-07-28","2025-11-25"],"requested":"x"}`: {"2026-07-28", "2025-11-25"}, `{"supported":[7,"a"]}`: {"a"},
		`{"supported":"2026-07-28"}`: nil, `{}`: nil, ``: nil,
		wire.Value(`{"supported":["a"` + strings.Repeat(`,"a"`, 50) + `]}`): strings.Fields(strings.Repeat("a ", 16)),
	} {
		if diff := cmp.Diff(want, ext2026.SupportedVersions(data)); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", data, diff)
		}
	}
}
