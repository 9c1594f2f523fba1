//go:build race

package adapter_test

// thin is of how many attempts one is made: the race detector makes them ten times as slow.
const thin = 9
