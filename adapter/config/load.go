package config

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Flags is what the command line of serve says. A nil pointer or slice is a
// flag that was not given; its variable then counts.
type Flags struct {
	// Config names the file.
	Config *string
	// Backends are the values of --backend.
	Backends []string
	// Demo adds the built-in backends.
	Demo *bool
	// Listen, Admin and Store are the flags of these names.
	Listen, Admin, Store *string
	// Set are the KEY=VALUE of --set.
	Set []string
}

// Inputs is everything that a configuration is made of.
type Inputs struct {
	// Flags is the command line.
	Flags Flags
	// LookupEnv finds an environment variable, as os.LookupEnv does. It serves
	// ${NAME}, the TASKBRIDGE_ variables and the state directory.
	LookupEnv func(name string) (value string, ok bool)
}

// Variable returns the environment variable that stands for a flag, given
// without its dashes.
func Variable(flag string) string {
	return "TASKBRIDGE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Load makes a configuration of the file, the environment and the flags; each
// wins over those before it. An error is an *Error with every problem.
func Load(in Inputs) (*Config, error) {
	d := &decoder{env: in.LookupEnv}
	flags, vars := in.Flags, d.variables(in.Flags)
	root, home := d.base(flags.Config, vars.Config)
	rank := 0
	d.apply(root, vars, func(name string) override {
		rank++
		return override{name: Variable(name), glue: "=", rank: rank}
	})
	d.apply(root, flags, func(name string) override {
		rank++
		return override{name: "--" + name, glue: " ", rank: rank}
	})
	return d.finish(root, home)
}

// Check reads the file alone, as serve --config would without any other flag
// or variable. An error is an *Error with every problem.
func Check(file string, lookupEnv func(name string) (value string, ok bool)) error {
	d := &decoder{env: lookupEnv}
	root, home := d.base(&file, nil)
	_, err := d.finish(root, home)
	return err
}

// variables reads the environment in place of the flags that were not given.
// An empty variable is one that is not set.
func (d *decoder) variables(given Flags) Flags {
	text := func(name string, flag *string) *string {
		val, _ := d.env(Variable(name))
		if flag != nil || val == "" {
			return nil
		}
		return &val
	}
	lines := func(name string, flag []string) (out []string) {
		val, _ := d.env(Variable(name))
		if flag != nil {
			return nil
		}
		for line := range strings.Lines(val) {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, line)
			}
		}
		return out
	}
	d.demo = given.Demo != nil && *given.Demo
	if val := text("demo", nil); val != nil && given.Demo == nil {
		on, err := strconv.ParseBool(*val)
		if err != nil {
			d.add(source{label: Variable("demo") + "=" + *val, rank: 1}, "", "want true or false")
		}
		d.demo = on
	}
	return Flags{
		Config: text("config", given.Config), Backends: lines("backend", given.Backends),
		Listen: text("listen", given.Listen), Admin: text("admin", given.Admin), Store: text("store", given.Store),
		Set: lines("set", given.Set),
	}
}

// base reads the file if one is named. It returns what it says and how to call
// the place of what nobody said. Of a file that cannot be read at all nothing
// is known; the rest is then read as far as that allows.
func (d *decoder) base(flag, variable *string) (*node, source) {
	name := flag
	if name == nil {
		name = variable
	}
	if name == nil {
		src := source{label: "configuration", rank: math.MaxInt}
		return &node{form: formMapping, src: src}, src
	}
	src := source{label: *name, dir: filepath.Dir(*name)}
	data, err := os.ReadFile(*name)
	if err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		d.add(src, "", "%v", err)
	} else if root := (yamlReader{src: src, env: d.env, out: &d.problems}).document(data); root != nil {
		if d.fits(root, "", formMapping, "a mapping at the top of the file") {
			return root, src
		}
	}
	d.partial = true
	return &node{form: formMapping, src: src}, src
}

// apply puts the overrides into root, the most particular last.
func (d *decoder) apply(root *node, f Flags, named func(flag string) override) {
	for _, s := range []struct {
		flag string
		path string
		val  *string
	}{
		{"listen", "listen", f.Listen},
		{"admin", "admin.listen", f.Admin},
		{"store", "store", f.Store},
	} {
		if s.val != nil {
			d.literal(root, named(s.flag), s.path, *s.val)
		}
	}
	for _, b := range f.Backends {
		d.backend(root, named("backend"), b)
	}
	for _, s := range f.Set {
		d.set(root, named("set"), s)
	}
}

// finish reads root by the table, on top of the defaults, and checks the whole.
func (d *decoder) finish(root *node, home source) (*Config, error) {
	cfg := new(Config)
	for _, name := range []string{DemoModern, DemoLegacy} {
		if !d.demo || root.find("backends."+name) != nil {
			continue
		}
		root.put("backends."+name, &node{form: formMapping, src: source{label: "--demo", rank: 1}})
	}
	table.Preset(d, cfg)
	table.Read(d, root, "", cfg)
	if !d.partial {
		checker{decoder: d, root: root, cfg: cfg, home: home}.check()
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return cfg, nil
}
