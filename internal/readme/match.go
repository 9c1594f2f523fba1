package readme

import (
	"regexp"
	"strings"
)

// wildcard is what stands for other text in expected output.
var wildcard = regexp.MustCompile(`\.\.\.|…|<[a-z][a-z0-9-]*>`)

// Matches reports whether output is what a block of expected output says.
func (o *Output) Matches(output string) bool {
	if o.JSON {
		return jsonPattern(o.Text).MatchString(compact(output))
	}
	return regexp.MustCompile(`\A` + linesPattern(o.Text) + `\z`).MatchString(tidy(output))
}

// MatchesLines reports whether the lines of the block are among those of the
// output, in order.
func (o *Output) MatchesLines(output string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for line := range strings.Lines(tidy(o.Text)) {
		pattern.WriteString(`(?:.*\n)*?` + linesPattern(line))
	}
	return regexp.MustCompile(pattern.String()).MatchString(tidy(output))
}

func linesPattern(text string) string {
	var pattern strings.Builder
	for line := range strings.Lines(tidy(text)) {
		if trimmed := strings.TrimSpace(line); trimmed == "..." || trimmed == "…" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		pattern.WriteString(withWildcards(line, `.*`))
	}
	return pattern.String()
}

func jsonPattern(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)\A` + withWildcards(compact(text), `.*`) + `\z`)
}

// withWildcards quotes a text but for its wildcards.
func withWildcards(text, anything string) string {
	var pattern strings.Builder
	last := 0
	for _, at := range wildcard.FindAllStringIndex(text, -1) {
		pattern.WriteString(regexp.QuoteMeta(text[last:at[0]]))
		if text[at[0]] == '<' {
			pattern.WriteString(`[^\s"]+`)
		} else {
			pattern.WriteString(anything)
		}
		last = at[1]
	}
	pattern.WriteString(regexp.QuoteMeta(text[last:]))
	return pattern.String()
}

// tidy takes away white space at the ends of lines, empty lines at the end, and
// gives the last line its newline.
func tidy(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	trimmed := strings.TrimRight(out.String(), "\n")
	if trimmed == "" {
		return ""
	}
	return trimmed + "\n"
}

// compact takes away the white space outside strings. It does not parse: what
// it is given holds wildcards, or may be no JSON at all.
func compact(text string) string {
	var out strings.Builder
	inString, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case inString && r == '\\':
			escaped = true
		case r == '"':
			inString = !inString
		case !inString && strings.ContainsRune(" \t\r\n", r):
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
