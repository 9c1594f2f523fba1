// Package handle has the task ids of backends that a client talks to in its own
// era: nothing of such a task is kept but whose it is.
//
// A client never sees the backend's id. It gets a sealed one, which holds for its
// owner on its route only, however little the backend checks (S-2). Where a backend
// lists tasks or tells of them unasked, the package also remembers which of them
// belong to whom: what is not known to be an owner's is not shown to it. What is
// remembered can be lost; a handle opens without it, unless the backend's id is too
// long to be in one.
//
// Request states and cursors of a caller's own tasks are sealed as well, whatever the
// backend puts into them: they are of no use to anybody else.
//
// It must never tell why a handle does not open: every failure is [ErrUnknown].
//
// Rules: DESIGN §4.4, PROTOCOL.md S-2, A-H1, A-H2, A-S2, §4.23.
package handle
