// Package red has a test that fails by itself.
package red

func one() int {
	x := 0
	x++
	return x
}
