// Package bridge sequences the crossing of the eras: what a legacy client asks,
// translated and sent to a modern backend, and what comes back, translated for
// the client ([Upgrade]).
//
// It owns no state. Tasks live in package task, subscriptions in package watch,
// sessions in the face; translation itself is package mapping's.
//
// Rules: PROTOCOL.md §1.3 to §1.6, §2.1, §2.2, §3 and §4 direction A.
package bridge
