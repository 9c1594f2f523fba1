// Package odd has what cannot stand behind a switch.
package odd

import "strings"

type flag bool

func named(f flag) int {
	if f {
		return 1
	}
	return 0
}

var nested = [][]string{{"a"}, {strings.ToUpper("b")}}

func forever(n int) int {
	i := 0
	for i != n {
		i++
	}
	return i
}
