// Package replica lets the processes that share a store find each other and serve
// each other's requests (DESIGN.md §4, promise 5).
//
// Each run of a process has an id, under which it is on record as long as it lives.
// What only one process can serve, such as the streams of a session or a call that
// waits for an answer, is passed to it as a whole HTTP request, and the answer comes
// back piece by piece while it is made. Everything travels over topics of the store:
// replicas need no way to each other but that.
//
// Topics may lose messages. Each direction of an exchange therefore numbers its
// frames and sends again what was not acknowledged; a request is served once however
// often it arrives. A process that dies ends its exchanges: the peer learns of it
// from the record of presence, and says whether the request may have been served.
//
// The package must not look into what it carries: requests and answers are opaque.
// The head of a request carries credentials. It is sealed, and good for one body, in
// one exchange, for a while: who has the store only can read bodies and answers, and
// can have nothing done in a caller's name.
package replica
