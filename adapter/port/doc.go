// Package port holds the seams between the parts of the bridge.
//
// A face (front) hands each message of a client to a [Crossing] as an
// [Exchange] and gets an [Outcome]; a crossing reaches a server through a
// [Back]. The packages task and watch see the shapes of neither era: they reach
// them through the interfaces [TaskDialect], [TaskBackend] and [ChangeSource],
// which package bridge implements over the mapping.
//
// The package imports no sibling and holds no logic but the reading of errors.
package port
