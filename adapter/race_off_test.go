//go:build !race

package adapter_test

// thin is of how many attempts one is made.
const thin = 1
