// Package config reads what the bridge is told to do: the YAML file, the
// command line and the environment, in rising order of authority between file,
// environment and flags.
//
// One table (table.go) holds every key with its shape, default and meaning.
// Reading, --set, the suggestions in error messages and the JSON Schema of the
// file all come from it, so they cannot disagree.
//
// Load returns either a complete Config or an *Error that lists every problem
// at once with its place. A key that names something this version cannot do is
// a problem too: nothing that was asked for is silently left out.
//
// The package must never open a store, a listener or a connection, never read
// the clock, and never put a secret (or anything that came in through ${NAME})
// into a message.
package config
