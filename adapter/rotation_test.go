package adapter_test

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// rotation is how secrets are rotated (docs/operations.md): the new one is made known,
// then used, and the old one goes once nothing that was made with it is needed.
var rotation = []string{
	"[the-old-secret-of-the-bridge]",
	"[the-old-secret-of-the-bridge, the-new-secret-of-the-bridge]",
	"[the-new-secret-of-the-bridge, the-old-secret-of-the-bridge]",
	"[the-new-secret-of-the-bridge]",
}

// storedKinds are the kinds of records, and whether a rotation is played with them.
// What is stored under another key has to come here, and into the play.
var storedKinds = map[string]bool{
	"session": true, "task": true, "task/call": true, "question": true, "pump": true, "owned": true, "round": true,
	"task/body": false, // named by its task's record
}

// rotating is a cell whose secrets are rotated, and what somebody has in it.
type rotating struct {
	*eraCell

	step int
	mu   *sync.Mutex
	seen map[string]bool // kinds of records
	mine []thing
}

// thing is something that was made at a step of a rotation.
type thing struct {
	name string
	step int
	// use reports whether it is there, and what is.
	use func() (bool, string)
}

var bodyKey = regexp.MustCompile(`^[0-9a-f]{16}$`)

// next goes on to the next step, and takes note of what the store has.
func (r *rotating) next() {
	r.t.Helper()
	r.end()
	synctest.Wait()
	db, err := sql.Open("sqlite", r.dir+"/taskbridge.db")
	if err != nil {
		r.t.Fatal(err)
	}
	rows, err := db.QueryContext(r.t.Context(), "SELECT key FROM record")
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			r.t.Error(err)
		}
		kind, rest, _ := strings.Cut(key, "/")
		switch _, part, found := strings.Cut(rest, "/"); {
		case !found || kind == "question":
		case bodyKey.MatchString(part):
			kind += "/body"
		default:
			kind += "/" + strings.TrimRight(part, "0123456789")
		}
		r.seen[kind] = true
	}
	r.mu.Unlock()
	for _, err := range []error{rows.Err(), rows.Close(), db.Close()} {
		if err != nil {
			r.t.Error(err)
		}
	}
	r.step++
	r.set[0] = "secrets=" + rotation[r.step]
	r.begin()
}

// accepts reports whether what was sealed at a step opens now.
func (r *rotating) accepts(step int) bool {
	newest, _, _ := strings.Cut(strings.Trim(rotation[step], "[]"), ",")
	return strings.Contains(rotation[r.step], newest)
}

func (r *rotating) keep(name string, use func() (bool, string)) {
	r.mine = append(r.mine, thing{name, r.step, use})
}

// check uses everything.
func (r *rotating) check() {
	r.t.Helper()
	for _, m := range r.mine {
		if there, got := m.use(); there != r.accepts(m.step) {
			r.t.Errorf("with %s, %s made with %s: %s", rotation[r.step], m.name, rotation[m.step], got)
		}
	}
}

// TestSecretsAreRotated: whatever was made at one step of a rotation is there in the next
// ones, as long as its secret is accepted; a session that is used stays for ever (DESIGN
// "State", §4.2).
func TestSecretsAreRotated(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]bool{}
	t.Run("", func(t *testing.T) {
		for _, face := range []string{"legacy", "modern"} {
			for era, server := range servers {
				t.Run(face+" face, "+era+" backend", func(t *testing.T) {
					t.Parallel()
					cellOf(t, server(), func(c *eraCell) {
						c.set = []string{"secrets=" + rotation[0], "page_size=2", "times.session_idle=1m"}
						c.restart()
						r := &rotating{eraCell: c, mu: &mu, seen: seen}
						if face == "legacy" {
							r.playOld(era)
						} else {
							r.playRecent(era)
						}
					})
				})
			}
		}
	})
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		if _, known := storedKinds[kind]; !known {
			t.Errorf("nobody says what becomes of a record of kind %s in a rotation", kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(storedKinds)) {
		if storedKinds[kind] && !seen[kind] {
			t.Errorf("no record of kind %s was there", kind)
		}
	}
}

func (r *rotating) playOld(era string) {
	t := r.t
	t.Helper()
	o := r.old("Bearer a")
	var asks, cursor, event string
	var question wire.Value
	var listed []thing
	for {
		r.check()
		if asks != "" { // of the step before
			in := r.send("legacy", http.MethodGet, "", merge(o.headers(), "Last-Event-ID", event))
			if (in.status == http.StatusOK) != r.accepts(r.step-1) {
				t.Errorf("with %s, the stream of a result: HTTP %d", rotation[r.step], in.status)
			}
			in.hangUp()
			o.answer(question, `{"action":"accept","content":{"name":"Ada"}}`)
			time.Sleep(time.Second)
			if got := o.do("tasks/result", fmt.Sprintf(`{"taskId":%q}`, asks)); strings.Contains(string(got), "Ada") != r.accepts(r.step-1) {
				t.Errorf("with %s, a task whose question was answered: %s", rotation[r.step], got)
			}
		}
		if cursor != "" {
			if got := o.do("tasks/list", fmt.Sprintf(`{"cursor":%q}`, cursor)); got.Get("result").Get("tasks").Present() != r.accepts(r.step-1) {
				t.Errorf("with %s, a page of the list: %s", rotation[r.step], got)
			}
		}
		if r.step == len(rotation)-1 {
			return
		}
		for _, tool := range map[string][]string{"legacy": {"work"}, "modern": {"work", "ask_first"}}[era] {
			handle := o.task(tool, `{}`)
			use := func() (bool, string) {
				got := o.do("tasks/get", fmt.Sprintf(`{"taskId":%q}`, handle))
				return text(got, "result", "taskId") == handle, string(got)
			}
			r.keep("a task of "+tool, use)
			listed = append(listed, thing{handle, r.step, use})
		}
		asks = o.task("ask", `{}`)
		listed = append(listed, thing{asks, r.step, nil})
		time.Sleep(time.Second)
		in := o.open("tasks/result", fmt.Sprintf(`{"taskId":%q}`, asks))
		event = in.firstID()
		question = in.want("elicitation/create")
		in.hangUp()
		all, page := "", wire.Value("")
		for cursor = ""; ; {
			page = o.do("tasks/list", map[bool]string{true: `{}`, false: fmt.Sprintf(`{"cursor":%q}`, cursor)}[cursor == ""])
			all += string(page)
			next := text(page, "result", "nextCursor")
			if next == "" {
				break
			}
			cursor = next
		}
		for _, l := range listed {
			if strings.Contains(all, l.name) != r.accepts(l.step) {
				t.Errorf("with %s, the list about a task made with %s: %s", rotation[r.step], rotation[l.step], all)
			}
		}
		if era == "modern" && cursor == "" {
			t.Error("the list has one page")
		}
		time.Sleep(20 * time.Second)
		if got := o.do("ping", `{}`); got.Get("result") != "{}" {
			t.Errorf("with %s, the session: %s", rotation[r.step], got)
		}
		r.next()
	}
}

func (r *rotating) playRecent(era string) {
	t := r.t
	t.Helper()
	const canVisit = `{"elicitation":{"form":{},"url":{}}}`
	c := &recentClient{eraCell: r.eraCell, auth: "Bearer a"}
	var asks, state string
	var asker *recentClient
	tool, answers := "ask", `{"name":{"action":"accept","content":{"name":"Ada"}}}`
	if era == "legacy" { // nothing is held open for this one
		tool, answers = "sign_in", `{"url-1":{"action":"accept"}}`
	}
	for {
		r.check()
		if state != "" {
			got := asker.do("tools/call", tool, canVisit, fmt.Sprintf(`,"name":%q,"arguments":{},"requestState":%q,"inputResponses":%s`, tool, state, answers))
			if got.Get("result").IsObject() != r.accepts(r.step-1) {
				t.Errorf("with %s, a call that asked: %s", rotation[r.step], got)
			}
			c.about("tasks/update", asks, `,"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}},"elicitation-1":{"action":"accept","content":{"name":"Ada"}}}`)
			time.Sleep(time.Second)
			if got := c.about("tasks/get", asks, ""); strings.Contains(string(got), "Ada") != r.accepts(r.step-1) {
				t.Errorf("with %s, a task whose question was answered: %s", rotation[r.step], got)
			}
		}
		if r.step == len(rotation)-1 {
			return
		}
		handle := text(c.call("work", `{"ms":1000}`), "result", "taskId")
		r.keep("a task", func() (bool, string) {
			got := c.about("tasks/get", handle, "")
			return text(got, "result", "taskId") == handle, string(got)
		})
		asks = text(c.call("ask", `{}`), "result", "taskId")
		time.Sleep(2 * time.Second)
		if got := c.about("tasks/get", asks, ""); text(got, "result", "status") != "input_required" {
			t.Errorf("a task that asks: %s", got)
		}
		asker = &recentClient{eraCell: r.eraCell, auth: fmt.Sprintf("Bearer %d", r.step)} // somebody who was never asked
		got := asker.do("tools/call", tool, canVisit, fmt.Sprintf(`,"name":%q,"arguments":{}`, tool))
		if state = text(got, "result", "requestState"); state == "" {
			t.Fatalf("a call that asks: %s", got)
		}
		r.next()
	}
}

// TestConfiguringSecretsLosesNothing: what a store's own secret has sealed opens until its
// file is taken away.
func TestConfiguringSecretsLosesNothing(t *testing.T) {
	t.Parallel()
	cellOf(t, newRecentDemo(), func(c *eraCell) {
		o := c.old("Bearer a")
		handle := o.task("work", `{}`)
		there := func() bool {
			return text(o.do("tasks/get", fmt.Sprintf(`{"taskId":%q}`, handle)), "result", "taskId") == handle
		}
		c.set = []string{"secrets=" + rotation[0]}
		c.restart()
		if !there() {
			t.Error("configuring a secret has lost a task")
		}
		if err := os.Remove(c.dir + "/secret"); err != nil {
			t.Fatal(err)
		}
		c.restart()
		if there() {
			t.Error("a secret without its file is accepted")
		}
	})
}

// merge returns headers with another one.
func merge(header map[string]string, name, value string) map[string]string {
	header[name] = value
	return header
}
