// Package bridge sequences the crossing of the eras: what a legacy client asks,
// translated and sent to a modern backend, and what comes back, translated for
// the client ([Upgrade]); the same the other way round ([Downgrade]); and what passes
// between peers of one era as it is ([PassLegacy], [PassModern]). Which of them serves
// an exchange is for the era of its backend to say ([Eras]).
//
// It owns no state. Tasks live in package task, subscriptions in package watch,
// sessions in the face; translation itself is package mapping's.
//
// Rules: PROTOCOL.md §1.3 to §1.10, §2, §3 and §4.
package bridge
