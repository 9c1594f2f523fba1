package adapter_test

import (
	"strings"
	"testing"
)

// TestNestedTooDeep: what is nested deeper than any reader takes is refused, in
// either direction, and ends nothing but its own exchange; on a stream it is only
// an event that nobody can read (G-8).
func TestNestedTooDeep(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	playText(t, "", `c>b [as deep | raw] {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"smelt","arguments":{"a":`+deep+`}}}
b>c [400 | on deep] {"jsonrpc":"2.0","error":{"code":-32700,"message":"<text>"}}
c>b {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"smelt"}}
b>u {"jsonrpc":"2.0","id":9002,"method":"tools/call","params":{"name":"smelt","_meta":"@UMN"}}
u>b [on 9002 | raw | json] {"jsonrpc":"2.0","id":4,"result":{"content":[],"structuredContent":{"a":`+deep+`}}}
b>c {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"<text>"}}
c>b {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"smelt"}}
b>u {"jsonrpc":"2.0","id":9003,"method":"tools/call","params":{"name":"smelt","_meta":"@UMN"}}
u>b [on 9003] {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}
u>b [on 9003 | sse | raw] data: `+deep+`
u>b {"jsonrpc":"2.0","id":9003,"result":{"resultType":"complete","content":[]}}
b>c {"jsonrpc":"2.0","id":3,"result":{"content":[]}}
c>b {"jsonrpc":"2.0","id":4,"method":"ping"}
b>c {"jsonrpc":"2.0","id":4,"result":{}}
wait 10s
`)
}
