package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	// Source is the file name, or the flag or variable with its value.
	Source string
	// Line and Column are the place in the file, from 1; 0 outside a file or
	// where the problem is something missing from it.
	Line, Column int
	// Path is the key path, such as backends.reports.era; empty where Source
	// already says it or where no key is concerned.
	Path string
	// Message says what is wrong, without the value of any secret.
	Message string

	rank int // the order of sources: the file first, then as given
}

// String renders the problem as source:line: path: message, leaving out what
// is absent.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Source)
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line))
	}
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Error is the error of Load and Check: every problem there is, those of the
// file first and by line.
type Error struct {
	// Problems is never empty.
	Problems []Problem
}

// Error renders one problem a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// problems collects them while a configuration is read.
type problems []Problem

func (ps *problems) add(src source, path, format string, args ...any) {
	if src.path != "" && src.path == path {
		path = ""
	}
	*ps = append(*ps, Problem{
		Source: src.label, Line: src.line, Column: src.column, rank: src.rank,
		Path: path, Message: fmt.Sprintf(format, args...),
	})
}

// err returns nil or an *Error with the problems in order.
func (ps problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{Problems: ps}
}
