// Command soak puts the taskbridge command under hostile load for a while; see
// package soak. It exits 1 when the bridge does not bear it.
package main
