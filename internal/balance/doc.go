// Package balance is a small load balancer, for tests of several replicas: it sends
// each request to another one, with no regard to sessions. A replica that refuses the
// connection is passed over, as any balancer does; a request that was sent is never
// sent again.
package balance
