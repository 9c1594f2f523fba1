// Package mutate takes away one small part of a package at a time and sees
// whether its tests notice.
//
// It is made for code that maps fields: a mapping that can be deleted while all
// tests pass is one that nobody checks. What is taken away or turned round is
// listed with type Op.
//
// The tree is never touched. All mutants are compiled at once into one test
// binary through go build's -overlay, each behind a switch that an environment
// variable throws, so a mutant costs one run of the tests and no compilation.
// What cannot be written behind a switch (the changed expression would not have
// the right type) gets an overlay and a build of its own.
//
// Survivors that no test can tell from the original go into an allow list, each
// with a reason; an entry that is no longer needed is a failure too.
//
// It must never be imported by what is shipped.
package mutate
