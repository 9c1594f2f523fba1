// Package leak is the last look at every message before its bytes leave: what
// belongs to one era never reaches a peer of the other.
//
// It holds tables only, one for each leg, made from PROTOCOL.md §6. A row names
// a member by its place in the protocol; user data (arguments, structured
// content, text, vendor members and vendor keys of _meta) is out of its reach.
//
// Between two peers of the same era nothing was translated, and a member that is
// called as one of the other era is the sender's own: there only methods, error
// codes and reserved keys of _meta are checked (S-3).
//
// A hit is a bug of the bridge or of a peer: the member is taken out, counted
// under the row's name and logged without its value. The filter cannot be
// switched off.
package leak
