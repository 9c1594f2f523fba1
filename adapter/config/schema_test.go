package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// compiled returns the schema as a validator, which also proves that it is a
// schema of draft 2020-12.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	if s.DraftVersion != 2020 {
		t.Fatalf("draft %d, want 2020-12", s.DraftVersion)
	}
	return s
}

// asJSON turns a YAML file into what the validator reads.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	out, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaAcceptsTheFileFormat(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, name := range []string{"testdata/design.yaml", "testdata/full.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaAgrees holds the schema against the loader: what a single key can
// get wrong, both must see. What is right but not supported yet is part of the
// format that the schema describes.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, text := range []string{
		"", "listen: [::1]:1", "listen: 127.0.0.1", "listen: '[::1]:1'", "listen: 5", "lisen: x", "admin: off", "admin: {listen: off}", "admin: {listen: x}",
		"admin: {token: ''}", "allowed_hosts: []", "allowed_hosts: x", "allowed_hosts: [x]", "faces: {old: {}}", "faces: {legacy: {off: yes}}",
		"faces: {legacy: {off: false}}", "faces: {legacy: {off: '${FALSE}'}}", "faces: {legacy: {allowed_origins: [x]}}", "faces: {legacy: {allowed_origins: ['http://x:1']}}",
		"store: 'memory:'", "store: 'embedded:'", "store: embedded:x", "store: memory:x", "store: sqlite:x",
		"secrets: []", "secrets: [short]", "secrets: [0123456789abcdef]", "secrets: ['${S}']",
		"limits: {body: 0}", "limits: {body: 1}", "limits: {body: 4MiB}", "limits: {body: '4 MB'}", "limits: {body: 4MiBs}", "limits: {body: -1}", "limits: {body: 1.5GiB, inflight_bytes: 2G}",
		"limits: {sessions: 0}", "limits: {sessions: 10000}", "limits: {sessions: x}", "limits: {sessions: '${TEN}'}", "limits: {header_timeout: 5}", "limits: {header_timeout: 1m30s}",
		"times: {probe: 1s}", "times: {probe: 1}", "times: {probe: -1s}", "times: {probe: 1d}", "times: {probe: 1.5s}", "times: []", "times: {prob: 1s}",
		"defaults: {era: auto}", "defaults: {era: new}", "defaults: {era: '${AUTO}'}", "defaults: {host_tasks: auto}", "defaults: {host_tasks: off}", "defaults: {host_tasks: \"off\"}", "defaults: {host_tasks: false}",
		"defaults: {page_size: 1000}", "defaults: {page_size: 1001}", "defaults: {strict_task_names: true}", "defaults: {strict_task_names: 1}",
		"backends: {b: {url: http://b.example}}", "backends: {B: {url: http://b.example}}", "backends: {b: {url: ftp://b.example}}", "backends: {b: {url: 'http://u@b.example'}}",
		"backends: {b: {url: 'http://b.example/#x'}}", "backends: {b: {url: http://b.example, ear: auto}}", "backends: {b: {url: http://b.example, era: legacy}}",
		"backends: {b: {url: http://b.example, credentials: none}}", "backends: {b: {url: http://b.example, credentials: some}}",
		"backends: {b: {url: http://b.example, credentials: static, header: {name: x y, value: '${S}'}}}", "backends: {b: {url: http://b.example, credentials: static, header: {name: x-y, value: '${S}'}}}",
		"backends: {b: {url: http://b.example, same_resource: maybe}}", "backends: []",
	} {
		if !strings.Contains(text, "backends") {
			text += "\n" + one
		}
		_, problems := load(t, text, config.Flags{}, "FALSE=false", "TEN=10", "AUTO=auto", "S=0123456789abcdef")
		problems = slices.DeleteFunc(problems, func(p string) bool { return strings.Contains(p, "not supported yet") })
		var err error
		if !strings.Contains(strings.Join(problems, ""), "not YAML") {
			err = s.Validate(asJSON(t, []byte(text)))
		} else {
			continue
		}
		if (err == nil) != (len(problems) == 0) {
			t.Errorf("%s\nthe loader says %q\nthe schema says %v", text, problems, err)
		}
	}
}

// TestSchemaDefaults holds each default of the schema against its own part.
func TestSchemaDefaults(t *testing.T) {
	t.Parallel()
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	seen := 0
	var walk func(path string, s map[string]any)
	walk = func(path string, s map[string]any) {
		if def, ok := s["default"]; ok {
			seen++
			c := jsonschema.NewCompiler()
			if err := c.AddResource(path, s); err != nil {
				t.Fatal(err)
			}
			part, err := c.Compile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := part.Validate(def); err != nil {
				t.Errorf("%s: default %v: %v", path, def, err)
			}
		}
		props, _ := s["properties"].(map[string]any)
		for name, p := range props {
			sub, ok := p.(map[string]any)
			if !ok || sub["description"] == "" {
				t.Errorf("%s/%s has no description", path, name)
				continue
			}
			walk(path+"/"+name, sub)
		}
		if more, ok := s["additionalProperties"].(map[string]any); ok {
			walk(path+"/*", more)
		}
	}
	walk("root", root)
	if seen < 35 {
		t.Errorf("%d defaults, want those of DESIGN.md", seen)
	}
}

// TestSchemaMarks proves that the schema says which keys this version cannot
// do, wherever they stand.
func TestSchemaMarks(t *testing.T) {
	t.Parallel()
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		s, ok := v.(map[string]any)
		if !ok {
			return
		}
		doc, _ := s["description"].(string)
		if i := strings.Index(doc, "Not supported yet"); i >= 0 {
			got[path] = doc[i:]
		}
		if props, ok := s["properties"].(map[string]any); ok {
			for name, p := range props {
				walk(path+"."+name, p)
			}
		}
		walk(path+".*", s["additionalProperties"])
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	walk("", root)
	const all = "Not supported yet."
	want := map[string]string{
		".backends.*.command": all, ".backends.*.env": all, ".backends.*.split": all, ".backends.*.mirror": all,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}
