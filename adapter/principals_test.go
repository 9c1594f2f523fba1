package adapter_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/mapping"
)

// party is somebody who talks to one face of a bridge: whose it is, is in the headers.
type party struct {
	*eraCell

	face, auth, session string
	sent                int
}

// seen is all that a client can see of an answer, but for its time.
type seen struct {
	status int
	header http.Header
	body   string
}

// attempt is a request in which a value of somebody's can be tried.
type attempt struct {
	name string
	// verb is that of HTTP, method that of the message.
	verb, method string
	body         string
	header       map[string]string
}

// hole is where the value goes, and nextID the id of the request.
const (
	hole   = "‹value›"
	nextID = "‹id›"
)

// short values are numbers, which are found everywhere.
const short = 20

// lingers is how long an answer that stays open is read.
const lingers = time.Second

// send makes an attempt and reads what comes of it, of a stream for a while only.
func (p *party) try(a attempt, value string) seen {
	p.t.Helper()
	header := map[string]string{}
	if p.auth != "" {
		header["Authorization"] = p.auth
	}
	if p.session != "" {
		header["Mcp-Session-Id"], header["MCP-Protocol-Version"] = p.session, "2025-11-25"
	}
	for name, v := range a.header {
		if header[name] = strings.ReplaceAll(v, hole, value); v == "" {
			delete(header, name)
		}
	}
	p.sent++
	in := p.send(p.face, a.verb, strings.NewReplacer(hole, value, nextID, fmt.Sprintf("try-%06d", p.sent)).Replace(a.body), header)
	p.all = p.all[:len(p.all)-1]
	var body bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&body, in.lines)
	}()
	select {
	case <-done:
	case <-time.After(lingers):
	}
	in.hangUp()
	<-done
	return seen{in.status, in.header, body.String()}
}

var (
	requestID = regexp.MustCompile(`"try-\d{6}"`)
	longToken = regexp.MustCompile(`[A-Za-z0-9_-]{27,}`)
	eventID   = regexp.MustCompile(`(?m)^id: .*$`)
	instant   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
)

// shown is a reply without what is different every time: the value that was tried, the
// tokens that were minted for it, and the time.
func (r seen) shown(value string) string {
	mask := func(s string) string {
		if len(value) < short {
			s = strings.ReplaceAll(s, `"`+value+`"`, `"`+hole+`"`)
		} else {
			s = strings.ReplaceAll(s, value, hole)
		}
		s = requestID.ReplaceAllString(s, nextID)
		s = eventID.ReplaceAllString(s, "id: ‹event›")
		s = instant.ReplaceAllString(s, "‹time›")
		return longToken.ReplaceAllStringFunc(s, func(token string) string { return fmt.Sprintf("‹token of %d›", len(token)) })
	}
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP %d\n", r.status)
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if name != "Date" {
			fmt.Fprintf(&out, "%s: %s\n", name, mask(strings.Join(r.header[name], ", ")))
		}
	}
	return out.String() + "\n" + mask(r.body)
}

// plain are params that suit every method.
const plain = `"level":"info","protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":{"elicitation":{}},"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":"v"}`

// bodySlots are the places in params where a message may carry what belongs to somebody,
// whatever its method makes of it.
var bodySlots = map[string]string{
	"taskId":       `"taskId":"` + hole + `"`,
	"cursor":       `"cursor":"` + hole + `"`,
	"requestState": `"requestState":"` + hole + `","inputResponses":{"elicitation-1":{"action":"accept","content":{"name":"Eve"}},"name":{"action":"accept","content":{"name":"Eve"}}}`,
	"requestId":    `"requestId":"` + hole + `"`,
	"uri":          `"uri":"` + hole + `"`,
	"task":         `"task":{"taskId":"` + hole + `"}`,
	"taskIds":      `"notifications":{"taskIds":["` + hole + `"]}`,
	"update":       `"taskId":"` + hole + `","inputResponses":{"elicitation-1":{"action":"accept","content":{"name":"Eve"}},"name":{"action":"accept","content":{"name":"Eve"}}}`,
	"related-task": "",
}

// params are those of a message with a slot. More goes into _meta.
func params(slot, meta, tool string) string {
	if slot == "related-task" {
		meta += `,"io.modelcontextprotocol/related-task":{"taskId":"` + hole + `"}`
	}
	out := `{` + plain + `,"_meta":{` + strings.TrimPrefix(meta, ",") + `}`
	if bodySlots[slot] != "" {
		out += "," + bodySlots[slot]
	}
	if slot != "uri" {
		out += `,"uri":"demo://none"`
	}
	if tool == "" {
		return out + `,"name":"none"}`
	}
	return out + `,"name":"` + tool + `","arguments":{"a":1,"b":2}}`
}

// attempts are all that a client of a face can try, from the table of the methods of
// both eras: a new method is tried by itself.
func attempts(face string) []attempt {
	rows := append(mapping.Table(), mapping.Row{Method: "com.acme/dig"})
	var out []attempt
	for _, row := range rows {
		for _, slot := range slices.Sorted(maps.Keys(bodySlots)) {
			tool := ""
			switch {
			case row.Method != "tools/call":
			case slot != "requestState" || face != "modern":
				tool = "add"
			default:
				tool = "ask" // as the call was that the state is of
			}
			a := attempt{name: row.Method + " " + slot, verb: http.MethodPost, method: row.Method, header: map[string]string{}}
			id, meta := `"id":"`+nextID+`",`, ""
			if row.Notification {
				id = ""
			}
			if face == "modern" {
				meta = recentMeta + canTasks
				if slot == "requestState" {
					meta = recentMeta + canAsk
				}
				a.header["MCP-Protocol-Version"], a.header["Mcp-Method"] = "2026-07-28", row.Method
				switch {
				case strings.HasPrefix(row.Method, "tasks/") && (slot == "taskId" || slot == "update"):
					a.header["Mcp-Name"] = hole
				case row.Method == "resources/read" && slot == "uri":
					a.header["Mcp-Name"] = hole
				case row.Method == "resources/read":
					a.header["Mcp-Name"] = "demo://none"
				case row.Method == "prompts/get":
					a.header["Mcp-Name"] = "none"
				case row.Method == "tools/call":
					a.header["Mcp-Name"] = tool
				}
			}
			a.body = fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":%s}`, id, row.Method, params(slot, meta, tool))
			out = append(out, a)
			if slot != "cursor" { // headers do not depend on what else is said
				continue
			}
			for _, name := range []string{"Mcp-Session-Id", "Last-Event-ID"} {
				h := maps.Clone(a.header)
				h[name] = hole
				out = append(out, attempt{row.Method + " " + name, http.MethodPost, row.Method, strings.ReplaceAll(a.body, hole, "none"), h})
			}
		}
	}
	for _, verb := range []string{http.MethodGet, http.MethodDelete} {
		for _, name := range []string{"Mcp-Session-Id", "Last-Event-ID"} {
			if verb == http.MethodDelete && name != "Mcp-Session-Id" {
				continue // it would end the session that tries
			}
			out = append(out, attempt{verb + " " + name, verb, "", "", map[string]string{name: hole}})
		}
	}
	if face == "legacy" {
		for _, quote := range []string{`"`, ""} {
			for _, end := range []string{`"result":{"action":"accept","content":{"name":"Eve"}}`, `"error":{"code":-1,"message":"no"}`} {
				out = append(out, attempt{"an answer " + end[:7] + quote, http.MethodPost, "", `{"jsonrpc":"2.0","id":` + quote + hole + quote + `,` + end + `}`, nil})
			}
		}
	}
	return out
}

// holding is something that somebody has.
type holding struct{ kind, value string }

// unknown are values like it that nobody has: one of the same shape, and forgeries.
func (h holding) unknown(t *testing.T) map[string]string {
	t.Helper()
	if len(h.value) < short {
		return map[string]string{"another": strings.Repeat("9", len(h.value))}
	}
	raw := make([]byte, len(h.value))
	_, _ = rand.Read(raw)
	place := ""
	if i := strings.LastIndexByte(h.value, ':'); i >= 0 { // of an event
		place = h.value[i:]
	}
	same := base64.RawURLEncoding.EncodeToString(raw)[:len(h.value)-len(place)] + place
	last := len(h.value) - len(place) - 1
	flipped := []byte(h.value)
	if flipped[last/2]++; flipped[last/2] > 'z' || !longToken.MatchString(strings.Repeat(string(flipped[last/2]), 30)) {
		flipped[last/2] = 'A'
	}
	if string(flipped) == h.value {
		flipped[last/2] = 'B'
	}
	return map[string]string{"another": same, "forged": string(flipped)}
}

// estate is what somebody has who uses a face.
type estate struct {
	*party

	holdings []holding
	asks     string     // a task with an open question
	question wire.Value // as it was asked, on the legacy face
	state    string     // of a call with an open question, on the modern face
	works    string     // a task that goes on
}

func (e *estate) has(kind, value string) {
	e.t.Helper()
	if value == "" {
		e.t.Fatalf("no %s", kind)
	}
	e.holdings = append(e.holdings, holding{kind, value})
}

// firstID reads the id of the first event.
func (in *incoming) firstID() string {
	in.t.Helper()
	for {
		line, err := in.lines.ReadString('\n')
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			return strings.TrimSpace(id)
		}
		if err != nil {
			in.t.Fatalf("no event: HTTP %d, %v", in.status, err)
		}
	}
}

// settle has somebody come by one of everything on a face.
func (c *eraCell) settle(face, auth string) *estate {
	c.t.Helper()
	e := &estate{party: &party{eraCell: c, face: face, auth: auth}}
	if face == "modern" {
		e.settleRecent()
	} else {
		e.settleOld()
	}
	return e
}

func (e *estate) settleOld() {
	e.t.Helper()
	o := e.old(e.auth)
	if e.session = o.session; e.auth != "" {
		e.has("session", o.session)
	}
	e.works = o.task("work", `{"ms":600000}`)
	e.has("handle of a task that goes on", e.works)
	ended := o.task("work", `{"ms":100}`)
	time.Sleep(time.Second)
	if got := o.do("tasks/result", fmt.Sprintf(`{"taskId":%q}`, ended)); !strings.Contains(string(got), "worked 100 ms") {
		e.t.Fatalf("tasks/result: %s", got)
	}
	e.has("handle of a task that has ended", ended)
	e.asks = o.task("ask", `{}`)
	time.Sleep(time.Second)
	in := o.open("tasks/result", fmt.Sprintf(`{"taskId":%q}`, e.asks))
	e.has("event of a result", in.firstID())
	e.question = in.want("elicitation/create")
	e.has("question", strings.Trim(string(e.question.Get("id")), `"`))
	get := o.get()
	e.has("event of a session", get.firstID())
	get.hangUp()
	if page := o.do("tasks/list", `{}`); page.Get("result").Get("nextCursor").Present() {
		e.has("cursor", text(page, "result", "nextCursor"))
	}
}

func (e *estate) settleRecent() {
	e.t.Helper()
	r := &recentClient{eraCell: e.eraCell, auth: e.auth}
	made := r.call("work", `{"ms":600000}`)
	if e.works = text(made, "result", "taskId"); e.works == "" {
		e.t.Fatalf("no task: %s", made)
	}
	e.has("handle of a task that goes on", e.works)
	ended := text(r.call("work", `{"ms":1000}`), "result", "taskId")
	time.Sleep(2 * time.Second)
	if got := r.about("tasks/get", ended, ""); !strings.Contains(string(got), "worked 1000 ms") {
		e.t.Fatalf("tasks/get: %s", got)
	}
	e.has("handle of a task that has ended", ended)
	e.asks = text(r.call("ask", `{}`), "result", "taskId")
	time.Sleep(time.Second)
	if got := r.about("tasks/get", e.asks, ""); text(got, "result", "status") != "input_required" {
		e.t.Fatalf("tasks/get: %s", got)
	}
	e.has("handle of a task that asks", e.asks)
	first := e.try(attempt{verb: http.MethodPost, header: map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask",
	}, body: fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":%s}`, nextID, params("", recentMeta+canAsk, "ask"))}, "")
	e.state = text(wire.Value(strings.TrimSpace(first.body)), "result", "requestState")
	e.has("request state", e.state)
}

// whole checks that everything of somebody's is as it was left, and can be used.
func (e *estate) whole() {
	e.t.Helper()
	use := func(name, value string) seen {
		for _, a := range attempts(e.face) {
			if a.name == name {
				return e.try(a, value)
			}
		}
		e.t.Fatalf("no attempt is called %s", name)
		return seen{}
	}
	if got := use("tasks/get taskId", e.works); !strings.Contains(got.body, `"status":"working"`) {
		e.t.Errorf("the task that goes on: %d %s", got.status, got.body)
	}
	if e.face == "modern" {
		if got := use("tasks/get taskId", e.asks); !strings.Contains(got.body, `"input_required"`) {
			e.t.Errorf("the task that asks: %d %s", got.status, got.body)
		}
		if got := use("tools/call requestState", e.state); !strings.Contains(got.body, "Eve") {
			e.t.Errorf("the call that asks: %d %s", got.status, got.body)
		}
		return
	}
	answer := attempt{verb: http.MethodPost, body: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"Ada"}}}`, e.question.Get("id"))}
	if got := e.try(answer, ""); got.status != http.StatusAccepted {
		e.t.Errorf("the answer: %d %s", got.status, got.body)
	}
	time.Sleep(time.Second)
	if got := use("tasks/result taskId", e.asks); !strings.Contains(got.body, "Ada") {
		e.t.Errorf("the task that asks: %d %s", got.status, got.body)
	}
}

// servers are the demo servers, by era.
var servers = map[string]func() http.Handler{"legacy": newOldDemo, "modern": newRecentDemo}
