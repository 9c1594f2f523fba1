package mutate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Op is a kind of change.
type Op string

// The kinds of change, each made at every place where it applies.
const (
	// OpCase deletes a value from a case clause, or a key from a map.
	OpCase Op = "case"
	// OpStmt deletes a statement: a call, an assignment, an increment.
	OpStmt Op = "stmt"
	// OpCond negates a condition or a comparison.
	OpCond Op = "cond"
	// OpElem deletes an element of a slice or array literal.
	OpElem Op = "elem"
	// OpField leaves a field of a struct literal at its zero value.
	OpField Op = "field"
	// OpArg deletes one of a call's variadic arguments.
	OpArg Op = "arg"
	// OpCall replaces a call that extends a []byte by what it extends.
	OpCall Op = "call"
	// OpWith replaces a call of a method that gives a changed copy of its
	// receiver by the receiver.
	OpWith Op = "with"
)

// Ops are all kinds of change.
var Ops = []Op{OpCase, OpStmt, OpCond, OpElem, OpField, OpArg, OpCall, OpWith}

// A Mutant is one change at one place.
type Mutant struct {
	// ID identifies the mutant within a run; it begins at 1.
	ID int
	// Op is the kind of change.
	Op Op
	// File is the file, relative to the module, with slashes.
	File string
	// Line and Column are its place in the file, from 1.
	Line, Column int
	// Func is the function or method it is in: "AppendUp", "Notes.With". For
	// a package-level variable it is the variable.
	Func string
	// Text is the first line of the changed source, white space reduced.
	Text string

	file  *source
	wrap  *wrap // nil if it cannot be put behind a switch
	plain edit  // the change by itself
}

// wrap is what puts mutants behind a switch; elements of one list share one.
type wrap struct {
	inserts []insert
	// broken is set once the compiler has refused it.
	broken bool
}

// switched reports whether the mutant is in the binary that holds all.
func (m *Mutant) switched() bool { return m.wrap != nil && !m.wrap.broken }

// String names the mutant as compilers name errors.
func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s: %s", m.File, m.Line, m.Column, m.Func, m.Op, m.Text)
}

// key is what an entry of the allow list names.
func (m *Mutant) key() string {
	return strings.Join([]string{m.File, m.Func, string(m.Op), m.Text}, " | ")
}

// source is a file of the package under test.
type source struct {
	path string // absolute
	name string // relative to the module, with slashes
	text []byte
	pkg  *target
}

// target is a package under test.
type target struct {
	importPath string
	name       string
	dir        string
}

// An insert adds text at an offset of a file. Where several meet, those that
// close come first, the innermost first; then those that open, the outermost
// first.
type insert struct {
	at    int
	text  string
	close bool
	span  int // length of the source the pair goes around
	order int // among equals, the order of making
}

// An edit replaces the source between two offsets.
type edit struct {
	from, to int
	text     string
}

// around makes the pair of inserts that wraps source from..to.
func around(from, to int, before, after string) []insert {
	return []insert{
		{at: from, text: before, span: to - from},
		{at: to, text: after, span: to - from, close: true},
	}
}

// withInserts returns a text with all inserts made.
func withInserts(text []byte, inserts []insert) []byte {
	for i := range inserts {
		inserts[i].order = i
	}
	slices.SortFunc(inserts, func(a, b insert) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		if a.close != b.close {
			return cmp.Compare(closeRank(a), closeRank(b))
		}
		if a.close {
			return cmp.Or(cmp.Compare(a.span, b.span), cmp.Compare(b.order, a.order))
		}
		return cmp.Or(cmp.Compare(b.span, a.span), cmp.Compare(a.order, b.order))
	})
	var out []byte
	last := 0
	for _, in := range inserts {
		out = append(out, text[last:in.at]...)
		out = append(out, in.text...)
		last = in.at
	}
	return append(out, text[last:]...)
}

func closeRank(in insert) int {
	if in.close {
		return 0
	}
	return 1
}

// withEdit returns a text with one edit made; lines keep their numbers.
func withEdit(text []byte, e edit) []byte {
	lines := strings.Count(string(text[e.from:e.to]), "\n") - strings.Count(e.text, "\n")
	return slices.Concat(text[:e.from], []byte(e.text+strings.Repeat("\n", max(0, lines))), text[e.to:])
}
