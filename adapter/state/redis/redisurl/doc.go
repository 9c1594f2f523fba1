// Package redisurl reads the URLs that name a Redis store, so that a
// configuration can be checked before anything is connected.
//
//	redis://[user:password@]host[:port][/db]
//	redis+cluster://[user:password@]host:port[,host:port...]
//	redis+sentinel://[user:password@]host[:port][,host[:port]...]/master[/db]
//
// With rediss, rediss+cluster and rediss+sentinel every connection is TLS, those
// to sentinels included. Characters with a meaning in URLs are percent-encoded
// in user names and passwords. [Address] lists the query parameters.
//
// The package must never connect to anything, and no error of it may hold a
// password.
package redisurl
