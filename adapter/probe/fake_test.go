package probe_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/probe"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/memnet"
)

// fake is a scripted server. Its answers are keyed by what is asked: the
// JSON-RPC method of a POST, or the HTTP method of anything else.
type fake struct {
	t      *testing.T
	client *http.Client

	mu      sync.Mutex
	answers script
	asked   []string
	headers []http.Header
	bodies  []string
}

// answer is one answer; the last one of a list is repeated.
type answer struct {
	status      int
	contentType string
	body        string // $ID is replaced by the request's id
	header      [2]string
	wait        time.Duration
	cut         bool
}

func rpc(status int, body string) answer {
	return answer{status: status, contentType: "application/json", body: body}
}

func page(status int) answer {
	return answer{status: status, contentType: "text/html", body: "<p>hello</p>"}
}

func result(r string) answer { return rpc(200, `{"jsonrpc":"2.0","id":$ID,"result":`+r+`}`) }

func rpcError(status int, code int, data string) answer {
	if data != "" {
		data = `,"data":` + data
	}
	return rpc(status, fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"because"%s}}`, code, data))
}

func discover(versions, capabilities, hints string) answer {
	return result(`{"resultType":"complete","supportedVersions":` + versions + `,"capabilities":` + capabilities + hints + `}`)
}

const onlyModern = `["2026-07-28"]`

var (
	speaksModern = discover(onlyModern, `{"tools":{}}`, `,"ttlMs":0,"cacheScope":"private"`)
	initialized  = result(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}`)
)

type script map[string][]answer

func bubble(t *testing.T, s script, test func(t *testing.T, f *fake)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, answers: maps.Clone(s), client: modern.NewHTTPClient(nil)}
		l := memnet.Listen()
		l.Attach(f.client)
		server := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.Serve(l)
		}()
		t.Cleanup(func() {
			f.client.CloseIdleConnections()
			_ = server.Close()
			<-done
		})
		test(t, f)
	})
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	key, id := r.Method, ""
	if r.Method == http.MethodPost {
		msg, err := jsonrpc.Read(body)
		if err != nil {
			f.t.Errorf("body %q: %v", body, err)
		}
		key, id = msg.Method, string(msg.ID)
	}
	a, ok := f.next(key, r.Header, string(body))
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if env.Sleep(r.Context(), env.System(), a.wait) != nil {
		return
	}
	if a.contentType != "" {
		w.Header().Set("Content-Type", a.contentType)
	}
	if a.header[0] != "" {
		w.Header().Set(a.header[0], a.header[1])
	}
	if a.cut {
		w.Header().Set("Content-Length", "1000")
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, replaceID(a.body, id))
	if a.cut {
		c := http.NewResponseController(w)
		_ = c.Flush()
		if conn, _, err := c.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

func replaceID(body, id string) string {
	const mark = "$ID"
	for i := 0; i+len(mark) <= len(body); i++ {
		if body[i:i+len(mark)] == mark {
			return body[:i] + id + body[i+len(mark):]
		}
	}
	return body
}

func (f *fake) next(key string, header http.Header, body string) (answer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, key)
	f.headers = append(f.headers, header.Clone())
	f.bodies = append(f.bodies, body)
	list := f.answers[key]
	if len(list) == 0 {
		return answer{}, false
	}
	if len(list) > 1 {
		f.answers[key] = list[1:]
	}
	return list[0], true
}

func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

func (f *fake) header(i int) http.Header {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.headers[i]
}

var endpoint = &url.URL{Scheme: "http", Host: "backend.test", Path: "/mcp"}

func (f *fake) options() probe.Options {
	return probe.Options{
		URL: endpoint, HTTP: f.client, Env: env.System(), Authorization: "Bearer s3cret",
		Headers: []port.Header{{Name: "X-Key", Value: "k"}},
	}
}
