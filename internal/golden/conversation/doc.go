// Package conversation reads and compares whole conversations: what a client and
// a server say to the bridge, and what the bridge must say to each of them, in
// order, with both legs on one screen.
//
// A conversation is one section of a golden file, in the notation of PROTOCOL.md
// §7. Each line is a step:
//
//	LEG [FACT | FACT …] MESSAGE
//
// LEG is c>b, b>u, u>b or b>c, of client, bridge and upstream. What goes into the
// bridge, c>b and u>b, is played; what comes out of it, b>u and b>c, is expected.
// A message may go on over lines that begin with white space. Lines that begin
// with # are comments. A few lines are no messages:
//
//	wait 3s          for so long the bridge says nothing, to anybody
//	upstream down    the server dies: connections break, new ones are refused
//	upstream up      it serves again, with no memory of its connections
//	bridge stop      the bridge begins to shut down
//
// # Facts
//
// Facts are what matters of HTTP beside the message; none may hold a closing bracket
// before a space:
//
//	Name: value      a header; sent, or expected
//	no Name          the header is not sent, or must not be there
//	GET, DELETE, …   the method of a c>b or b>u request; POST if none is named
//	200              the status of an answer; 200 if none is named
//	json, sse        a plain body or an event stream
//	on X             the exchange that the step belongs to: the id of its request,
//	                 or the name it was given
//	as X             names an exchange
//	route X          the backend whose route a c>b request goes to
//	raw              the message is sent as it stands, or expected to be this very
//	                 text, JSON or not; on a stream it is the fields of an event
//	pad N            as many spaces follow the message
//	event X          the message came with this event id; u>b: it is sent with it, and
//	                 no message is an event that has only the id
//	primed X         b>c: the stream began with an event that has this id, a time
//	                 after which to come back, and no message; a step without a
//	                 message may say only that
//	unprimed         b>c: the stream did not begin so
//	hang up          c>b: the client drops the exchange
//	abort            b>u: the bridge drops it
//	cut              u>b: the connection breaks, in the middle of the message if
//	                 there is one
//	end              the stream ends without a response: u>b ends it, b>c expects it
//
// A response names its exchange by its id; a step that does not name one belongs
// to the newest exchange of its side. Of the exchanges with the server, those that
// have no id are named by their HTTP method, by the method of a notification, or as
// response, and only those of requests count as the newest.
//
// # Placeholders
//
// In what is expected, strings of the form <name> stand for what may vary: <text>
// for any text that is not empty, <int> for any integer literal, <uuid>, and <now>
// (also <cancel time> and <local createdAt>) for the bridge's clock in RFC 3339.
// Any other name, as <sid> or <cursor>, is an opaque string. One that is named once
// more, as <cursor:2>, binds on first use: it must stay equal, stands for the same
// value where it is sent back, and if it is opaque for a value of its own.
//
// Four things bind without a mark. The ids of b>u requests are the bridge's: any
// id that was not used before in its session is right, and stands for it wherever
// the upstream uses it, subscription ids included, and where the bridge takes the
// request back. So do the progress tokens of b>u requests. A task's id on the
// client's leg that begins with "b." or "h." is an opaque handle. The id of a request
// to the client is the bridge's: any integer is right, and stands for it where the
// client answers or the bridge takes the request back. The ids of the server's own
// requests are what they are.
//
// The names of members of inputRequests and inputResponses may be placeholders, too:
// <key> for any, <key:1> for one that comes back.
//
// "_meta":"@NAME" stands for the object that a macro of the suite names, and a
// member "...":"@NAME" for the members of that object.
//
// # Comparison
//
// Numbers and strings are compared as they are spelled (G-2), duplicate members
// included. The order of members counts in user data: inside arguments,
// structuredContent and members with vendor names.
//
// The package knows nothing about tests or about the bridge, so that commands
// which record and replay share it. It must never import testing.
package conversation
