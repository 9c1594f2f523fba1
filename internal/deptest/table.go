package deptest

// The layers, from the bottom: internal, the wire shapes of the two eras,
// mapping, adapter/port, the rest of adapter, cmd. Imports go down only.
var (
	// pure packages translate bytes and do nothing else.
	pure = []string{"./mapping/...", "./legacy2025/...", "./ext2026/...", "./internal/wire/..."}
	// reach is what makes a package more than a translator of bytes.
	reach = []string{"context", "net", "net/http", "log/slog", "github.com/gin-gonic/gin/..."}
	// era are the wire shapes, and what sees both.
	era = []string{"./legacy2025/...", "./ext2026/...", "./mapping/..."}
)

// Layout is where a package may be.
var Layout = []string{
	"./cmd/taskbridge/...", "./adapter/...", "./mapping/...", "./legacy2025/...", "./ext2026/...",
	"./internal/...", "./bench/...", "./interop/...",
}

// Rules is the import graph of the module.
var Rules = []Rule{
	{
		Why:  "translation has no context, network or log, not even indirectly",
		From: pure, Deny: reach, Indirect: true,
	},
	{
		Why:  "translation has no clock, files or locks: instants arrive as arguments",
		From: pure, Deny: []string{"time", "os", "sync"},
	},
	{
		Why:    "gin stays at the edge, in adapter and its fronts",
		From:   []string{"./..."},
		Except: []string{"./adapter", "./adapter/front/..."},
		Deny:   []string{"github.com/gin-gonic/gin/..."},
	},
	{
		Why:    "JSON is read and spliced in internal/wire and mapping only",
		From:   []string{"./..."},
		Except: []string{"./internal/wire/...", "./mapping/..."},
		Deny:   []string{"github.com/tidwall/gjson/...", "github.com/tidwall/sjson/..."},
	},
	{
		Why:  "the eras do not know each other",
		From: []string{"./legacy2025/..."}, Deny: []string{"./ext2026/..."}, Tests: true, Indirect: true,
	},
	{
		Why:  "the eras do not know each other",
		From: []string{"./ext2026/..."}, Deny: []string{"./legacy2025/..."}, Tests: true, Indirect: true,
	},
	{
		Why:     "imports go down: a wire package stands on internal only",
		From:    []string{"./legacy2025/...", "./ext2026/..."},
		OwnOnly: []string{"./internal/..."},
	},
	{
		Why:     "imports go down: mapping stands on the wire packages and internal",
		From:    []string{"./mapping/..."},
		OwnOnly: []string{"./mapping/...", "./legacy2025/...", "./ext2026/...", "./internal/..."},
	},
	{
		Why:     "the seams know no sibling, or every sibling would know every other",
		From:    []string{"./adapter/port"},
		OwnOnly: []string{"./internal/..."},
	},
	{
		Why:     "imports go down: internal is the ground, and the demo servers use internal only",
		From:    []string{"./internal/..."},
		OwnOnly: []string{"./internal/..."},
	},
	{
		Why:  "imports go down: commands are on top",
		From: []string{"./..."}, Except: []string{"./cmd/..."}, Deny: []string{"./cmd/..."},
	},
	{
		Why:  "imports go down: adapter wires its parts, they do not know it",
		From: []string{"./adapter/..."}, Except: []string{"./adapter"}, Deny: []string{"./adapter"},
	},
	{
		Why:  "an edge knows the era it speaks and no other",
		From: []string{"./adapter/front/legacy", "./adapter/back/legacy"},
		Deny: []string{"./ext2026/..."}, Indirect: true,
	},
	{
		Why:  "an edge knows the era it speaks and no other",
		From: []string{"./adapter/front/modern", "./adapter/back/modern"},
		Deny: []string{"./legacy2025/..."}, Indirect: true,
	},
	{
		Why:  "state of tasks and questions knows no era and reaches mapping through adapter/port",
		From: []string{"./adapter/task", "./adapter/ask", "./adapter/park", "./adapter/pump", "./adapter/watch", "./adapter/listen", "./adapter/handle"},
		Deny: era, Indirect: true,
	},
	{
		Why:     "only what crosses, probes or filters sees both eras",
		From:    []string{"./..."},
		Except:  []string{"./mapping/...", "./adapter/bridge", "./adapter/probe", "./adapter/leak"},
		NotBoth: [2]string{"./legacy2025/...", "./ext2026/..."},
	},
	{
		Why:  "what is shipped holds no test code",
		From: []string{"./cmd/...", "./adapter"},
		Deny: []string{"testing", "./internal/golden/goldentest", "./internal/deptest"}, Indirect: true,
	},
	{
		Why:  "the golden format is shipped, its test runner is not",
		From: []string{"./internal/golden"},
		Deny: []string{"testing"}, Indirect: true,
	},
	{
		Why:  "what leaves goes through one filter, which the edges call through adapter/port",
		From: []string{"./adapter/front/...", "./adapter/back/..."},
		Deny: []string{"./adapter/leak"},
	},
	{
		Why:  "a record or a handle is bytes: no era is in it",
		From: []string{"./adapter/seal", "./adapter/state/..."},
		Deny: era, Indirect: true,
	},
	{
		Why:    "a store is reached through the interface in adapter/state",
		From:   []string{"./adapter/..."},
		Except: []string{"./adapter", "./adapter/state/..."},
		Deny:   []string{"./adapter/state/embedded", "./adapter/state/redis"},
	},
}

// Absent are the packages the rules name that are still to come.
var Absent = Absences{
	NotBuilt: []string{
		"./adapter/observe",
		"./adapter/record",
		"./adapter/console",
	},
}
