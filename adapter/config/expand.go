package config

import (
	"fmt"
	"regexp"
	"strings"
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// lookup finds an environment variable, as os.LookupEnv does.
type lookup func(name string) (string, bool)

// expand replaces each ${NAME} in text by the variable's value and each $${ by
// a plain ${. What comes in is not expanded again. It reports whether a
// variable was used.
func expand(text string, env lookup) (out string, used bool, err error) {
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			b.WriteString(text)
			return b.String(), used, nil
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		name, rest, closed := strings.Cut(text[i+2:], "}")
		if !closed {
			return "", used, fmt.Errorf("${ without its }; write $${ for a plain ${")
		}
		if !envName.MatchString(name) {
			return "", used, fmt.Errorf("${%s}: not the name of an environment variable; write $${ for a plain ${", name)
		}
		val, ok := env(name)
		if !ok {
			return "", used, fmt.Errorf("${%s}: not set in the environment", name)
		}
		b.WriteString(val)
		text, used = rest, true
	}
}
