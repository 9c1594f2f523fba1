package config

// A suggestion is the key that was perhaps meant, and its shape if a value was
// meant for that very key.
type suggestion struct {
	key   string
	shape shape
}

// String renders ", did you mean KEY", or nothing.
func (s suggestion) String() string {
	if s.key == "" {
		return ""
	}
	return ", did you mean " + s.key
}

// didYouMean returns ", did you mean X" for the closest of the candidates, or
// nothing if none is close.
func didYouMean(word string, candidates []string) string {
	if best := closest(word, candidates); best != "" {
		return ", did you mean " + best
	}
	return ""
}

// closest returns the nearest of the candidates, or "" if none is near: one
// edit in a short word, up to three in a long one.
func closest(word string, candidates []string) string {
	best, least := "", min(3, 1+len(word)/4)+1
	for _, c := range candidates {
		if n := distance(word, c); n < least {
			best, least = c, n
		}
	}
	return best
}

// distance is the number of single-byte insertions, deletions, replacements
// and swaps of neighbours that lead from a to b.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
