package wire

import (
	"math/big"
	"strconv"
	"strings"
)

// Compare compares two numbers by value, however they are spelled: -1, 0 or 1
// as a is less than, equal to or greater than b. It returns false when one of
// them is not a number or is absurdly large.
func Compare(a, b Value) (order int, ok bool) {
	x, okX := a.rational()
	y, okY := b.rational()
	if !okX || !okY {
		return 0, false
	}
	return x.Cmp(y), true
}

// rational returns the exact value of a number within the bounds of maxScale.
func (v Value) rational() (*big.Rat, bool) {
	if v.Kind() != KindNumber || len(v) > maxScale {
		return nil, false
	}
	s := strings.ToLower(string(v))
	if _, exponent, found := strings.Cut(s, "e"); found {
		if n, err := strconv.Atoi(exponent); err != nil || n > maxScale || n < -maxScale {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}
