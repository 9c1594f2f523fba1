package readme_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/internal/readme"
)

const document = "# Title\n" +
	"<!-- ci: serve timeout=10s -->\n```sh\nserver &\n```\nIt prints\n```text\nready\n```\n" +
	"<!-- another comment -->\n" +
	"<!-- ci: run exit=1 -->\n\n~~~bash\ncall\n```\ncall again\n~~~\n" +
	"```json\n{}\n```\n```json\nunrelated\n```\n" +
	"<!-- ci: run -->\n```sh\nquiet\n```\n<!-- ci: example -->\n```text\nno output of it\n```\n" +
	"```yaml\nkey: value\n```\n" +
	"<!-- ci: run -->\n```sh\nbefore yaml\n```\n```yaml\nkey: value\n```\n```text\nnot its output\n```\n" +
	"<!-- ci: test -->\n```sh\ngo test ./...\n```\n" +
	"<!-- ci: skip: needs a cluster -->\n```console\ndeploy\n```\n" +
	"<!-- ci: example -->\n```sh\nfor show\n```\n"

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := readme.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	want := []readme.Step{
		{
			Verb: readme.Serve, Line: 3, Script: "server &\n", Timeout: 10 * time.Second,
			Want: &readme.Output{Line: 7, Text: "ready\n"},
		},
		{
			Verb: readme.Run, Line: 13, Script: "call\n```\ncall again\n", Exit: 1, Timeout: time.Minute,
			Want: &readme.Output{Line: 18, JSON: true, Text: "{}\n"},
		},
		{Verb: readme.Run, Line: 25, Script: "quiet\n", Timeout: time.Minute},
		{Verb: readme.Run, Line: 36, Script: "before yaml\n", Timeout: time.Minute},
		{Verb: readme.Test, Line: 46, Script: "go test ./...\n", Timeout: 30 * time.Minute},
		{Verb: readme.Skip, Line: 50, Script: "deploy\n", Reason: "needs a cluster"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// The README itself must at least be runnable, which this tells without bash.
func TestParseReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := readme.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[readme.Verb]int{}
	for _, s := range steps {
		verbs[s.Verb]++
	}
	for _, verb := range []readme.Verb{readme.Serve, readme.Run, readme.Test} {
		if verbs[verb] == 0 {
			t.Errorf("no block has the marker ci: %s", verb)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ document, want string }{
		"commands without a marker":  {"```sh\nx\n```\n", "line 1: a block of shell commands without a ci marker"},
		"unknown verb":               {"<!-- ci: walk -->\n```sh\nx\n```\n", "unknown marker ci: walk"},
		"skip without a reason":      {"<!-- ci: skip -->\n```sh\nx\n```\n", "unknown marker ci: skip"},
		"skip with an empty reason":  {"<!-- ci: skip: -->\n```sh\nx\n```\n", "unknown marker ci: skip:"},
		"empty marker":               {"<!-- ci: -->\n```sh\nx\n```\n", "empty ci marker"},
		"unknown option":             {"<!-- ci: run fast -->\n```sh\nx\n```\n", "unknown option fast"},
		"exit of a server":           {"<!-- ci: serve exit=1 -->\n```sh\nx\n```\n```text\ny\n```\n", "unknown option exit=1"},
		"options of an example":      {"<!-- ci: example exit=1 -->\n```sh\nx\n```\n", "unknown marker"},
		"bad timeout":                {"<!-- ci: run timeout=x -->\n```sh\nx\n```\n", "invalid duration"},
		"bad exit":                   {"<!-- ci: run exit=x -->\n```sh\nx\n```\n", "invalid syntax"},
		"marker without a block":     {"<!-- ci: run -->\n", "no block right below it"},
		"marker with prose between":  {"<!-- ci: run -->\nprose\n```sh\nx\n```\n", "no block right below it"},
		"two markers":                {"<!-- ci: run -->\n<!-- ci: run -->\n```sh\nx\n```\n", "no block right below it"},
		"marker above no commands":   {"<!-- ci: run -->\n```yaml\nx\n```\n", "a block that is no shell commands"},
		"server without ready lines": {"<!-- ci: serve -->\n```sh\nx\n```\n", "what a ready server prints"},
		"server with json":           {"<!-- ci: serve -->\n```sh\nx\n```\n```json\n{}\n```\n", "what a ready server prints"},
		"block without an end":       {"<!-- ci: run -->\n```sh\nx\n", "line 2: a fenced block without an end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := readme.Parse(tc.document); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one that says %q", err, tc.want)
			}
		})
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		json      bool
		want, got string
		matches   bool
	}{
		"equal":                               {false, "a\nb\n", "a\nb\n", true},
		"white space at line ends":            {false, "a\nb\n", "a \r\nb\n\n", true},
		"other text":                          {false, "a\n", "b\n", false},
		"more lines":                          {false, "a\n", "a\nb\n", false},
		"fewer lines":                         {false, "a\nb\n", "a\n", false},
		"text before":                         {false, "a\n", "xa\n", false},
		"nothing":                             {false, "\n", "", true},
		"something where nothing is expected": {false, "\n", "a\n", false},
		"dots in a line":                      {false, "a...c\n", "abbbc\n", true},
		"dots for nothing":                    {false, "a...c\n", "ac\n", true},
		"dots stay in their line":             {false, "a...c\n", "ab\nbc\n", false},
		"an ellipsis":                         {false, "a…c\n", "abc\n", true},
		"dots for lines":                      {false, "a\n...\nc\n", "a\nb\nb\nc\n", true},
		"dots for no lines":                   {false, "a\n...\nc\n", "a\nc\n", true},
		"dots for lines, wrong end":           {false, "a\n...\nc\n", "a\nb\n", false},
		"a name":                              {false, "id: <task-id>.\n", "id: abc-1.\n", true},
		"a name with a space":                 {false, "id: <task-id>.\n", "id: abc 1.\n", false},
		"a name for nothing":                  {false, "id: <task-id>.\n", "id: .\n", false},
		"not a name":                          {false, "<Task ID>\n", "x\n", false},
		"patterns are text":                   {false, "a.c [x] (y) $\n", "a.c [x] (y) $\n", true},
		"patterns are no patterns":            {false, "a.c\n", "abc\n", false},
		"laid out":                            {true, "{\n  \"a\": [1, 2]\n}\n", `{"a":[1,2]}`, true},
		"order counts":                        {true, `{"a":1,"b":2}`, `{"b":2,"a":1}`, false},
		"digits count":                        {true, `{"a":1}`, `{"a":1.0}`, false},
		"space in a string counts":            {true, `{"a":"x y"}`, `{"a":"xy"}`, false},
		"space after an escaped quote counts": {true, `{"a":"\" y"}`, `{"a":"\"y"}`, false},
		"dots for members":                    {true, "{\"a\": 1, ...}", `{"a":1,"b":{"c":2}}`, true},
		"dots in a string":                    {true, `{"a":"..."}`, `{"a":"x y"}`, true},
		"a name in JSON":                      {true, `{"id":"<handle>"}`, `{"id":"t.1_x-"}`, true},
		"a name does not leave its string":    {true, `{"id":"<handle>"}`, `{"id":"x","y":"z"}`, false},
		"no JSON at all":                      {true, `{"a":1}`, "curl: connection refused", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := readme.Output{JSON: tc.json, Text: tc.want}
			if got := want.Matches(tc.got); got != tc.matches {
				t.Errorf("Matches gives %v, want %v", got, tc.matches)
			}
		})
	}
}

func TestMatchesLines(t *testing.T) {
	t.Parallel()
	want := readme.Output{Text: "route <url>\n...\nready\n"}
	for got, matches := range map[string]bool{
		"route http://x\nready\n":                 true,
		"log\nroute http://x\nlog\nready\nmore\n": true,
		"ready\nroute http://x\n":                 false,
		"route http://x\n":                        false,
		"my route http://x\nready\n":              false,
		"":                                        false,
	} {
		if want.MatchesLines(got) != matches {
			t.Errorf("MatchesLines(%q) gives %v", got, !matches)
		}
	}
}
