package config

import (
	"net/url"
	"strings"
)

// targets are the keys of a backend that say where it is; one must be there.
var targets = []string{"url", "command", "split"}

var backendShape = append(object[Backend]{
	key("url", func(b *Backend) **url.URL { return &b.URL }, endpoint, "", "Endpoint of the server."),
	key("ca_file", func(b *Backend) *string { return &b.CAFile }, fileName, "",
		"PEM file of the authorities trusted for this backend in place of the system's."),
	key("credentials", func(b *Backend) *Credentials { return &b.Credentials },
		choice(CredentialsForward, CredentialsStatic, CredentialsNone), "",
		"What the backend is shown: the caller's Authorization (forward, the default unless auth.jwks_url is there and same_resource is not), the header below (static), or nothing (none)."),
	key("header", func(b *Backend) *Header { return &b.Header }, object[Header]{
		key("name", func(h *Header) *string { return &h.Name }, headerName, "Authorization", "Name of the header."),
		key("value", func(h *Header) *string { return &h.Value }, headerValue, "",
			"Its value, from the environment: for example Bearer ${REPORTS_TOKEN}."),
	}, "", "The header of credentials: static."),
	key("same_resource", func(b *Backend) *bool { return &b.SameResource }, boolean, "false",
		"Whether bridge and backend are one protected resource, so that a token for the bridge may be forwarded. It matters only with auth.jwks_url."),
	later[Backend]("command", list[string]{item: text, least: 1}, "Program that serves on stdin and stdout, with its arguments."),
	later[Backend]("env", words{}, "Environment of command."),
	later[Backend]("split", list[struct{}]{item: splitShape, least: 1}, "Other backends to share the traffic, by weight."),
	later[Backend]("mirror", words{}, "A second backend that sees a sample of harmless requests."),
}, within(settingsShape, func(b *Backend) *Settings { return &b.Settings })...)

// splitShape is one share of a split.
var splitShape = object[struct{}]{
	later[struct{}]("backend", text, "Name of the backend."),
	later[struct{}]("weight", count(0, 1_000_000), "Its share; 0 drains it."),
}

// backendsShape is the mapping of backends by name.
type backendsShape struct{}

func (backendsShape) outer() form    { return formMapping }
func (backendsShape) secret() bool   { return backendShape.secret() }
func (backendsShape) keys() []string { return nil }

func (backendsShape) child(key string) shape {
	if !backendName.MatchString(key) {
		return nil
	}
	return backendShape
}

func (backendsShape) schema() jsonSchema {
	return jsonSchema{
		"type":                 "object",
		"propertyNames":        jsonSchema{"pattern": backendName.String()},
		"additionalProperties": backendShape.schema(),
	}
}

func (backendsShape) read(d *decoder, n *node, path string, c *Config) {
	if !d.fits(n, path, formMapping, "a mapping of backends by name") {
		return
	}
	for _, e := range n.entries {
		at := join(path, e.key)
		if !backendName.MatchString(e.key) {
			d.add(e.src, at, "a backend's name is lower-case letters, digits and dashes, and starts with no dash")
			continue
		}
		var b Backend
		backendShape.Preset(d, &b)
		b.Name, b.Settings = e.key, c.Defaults
		backendShape.Read(d, e.val, at, &b)
		d.target(n, e, at, &b)
		c.Backends = append(c.Backends, b)
	}
}

// target checks that the backend has one place to be, and fills in the demo.
func (d *decoder) target(all *node, e entry, path string, b *Backend) {
	var has []string
	for _, t := range targets {
		if e.val.get(t) != nil {
			has = append(has, t)
		}
	}
	switch {
	case e.val.form != formMapping:
	case d.demo && isDemo(b.Name) && len(has) == 0:
		b.Demo = b.Name
		b.Era = map[string]Era{DemoModern: EraModern, DemoLegacy: EraLegacy}[b.Name]
	case d.demo && isDemo(b.Name):
		d.add(e.src, path, "the name belongs to --demo; choose another")
	case len(has) > 1:
		d.add(e.src, path, "has %s; a backend is in one place", strings.Join(has, " and "))
	case len(has) == 1:
	case d.partial:
	case e.src.rank > 0:
		d.add(e.src, path, "no backend has this name%s", didYouMean(b.Name, without(all.names(), b.Name)))
	default:
		d.add(e.src, path, "needs a url")
	}
}

// isDemo reports whether a name is that of a built-in server.
func isDemo(name string) bool { return name == DemoModern || name == DemoLegacy }
