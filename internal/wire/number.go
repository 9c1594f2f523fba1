package wire

import (
	"math/big"
	"strconv"
	"strings"
)

// maxScale bounds the digits and the exponent of a number that is expanded to
// an integer, so that 1e999999999 costs nothing.
const maxScale = 400

// Floor returns v rounded down to an integer literal, without exponent and
// fraction. It returns false when v is not a number or is absurdly large. An
// integer literal comes back as it is, whatever its size (G-16).
func (v Value) Floor() (Value, bool) { return v.round(false) }

// Ceil is [Value.Floor], rounding up.
func (v Value) Ceil() (Value, bool) { return v.round(true) }

func (v Value) round(up bool) (Value, bool) {
	if v.Kind() != KindNumber {
		return "", false
	}
	s := string(v)
	if s == "-0" {
		return "0", true
	}
	if !strings.ContainsAny(s, ".eE") {
		return v, true
	}
	if mantissa, exponent, found := strings.Cut(strings.ToLower(s), "e"); found {
		if n, err := strconv.Atoi(exponent); err != nil || n > maxScale || n < -maxScale || len(mantissa) > maxScale {
			return "", false
		}
	} else if len(s) > maxScale {
		return "", false
	}
	rat, ok := new(big.Rat).SetString(s)
	if !ok {
		return "", false
	}
	quo, rem := new(big.Int).DivMod(rat.Num(), rat.Denom(), new(big.Int)) // Euclidean: rounds down for a positive denominator
	if up && rem.Sign() != 0 {
		quo.Add(quo, big.NewInt(1))
	}
	return Value(quo.String()), true
}

// Int returns v as an int64 and true when v is a number whose value is an
// integer in range, however it is spelled (900000.0 is 900000).
func (v Value) Int() (int64, bool) {
	floor, ok := v.Floor()
	if !ok {
		return 0, false
	}
	if ceil, _ := v.Ceil(); ceil != floor {
		return 0, false
	}
	n, err := strconv.ParseInt(string(floor), 10, 64)
	return n, err == nil
}

// IsInteger reports whether v is written as an integer: digits and a sign only.
func (v Value) IsInteger() bool {
	return v.Kind() == KindNumber && !strings.ContainsAny(string(v), ".eE")
}
