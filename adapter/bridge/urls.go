package bridge

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/taskbridge/taskbridge/adapter/park"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
	"github.com/taskbridge/taskbridge/mapping"
)

const (
	// maxURLRounds is how often a user is sent to visit URLs for one request, and
	// maxURLData how many bytes a backend may say about them.
	maxURLRounds = 10
	maxURLData   = 16 << 10
	// visitTime is how long a request waits for the news that the user is done.
	visitTime = 30 * time.Second
	// maxVisits is how many visits are known of at a time.
	maxVisits = 4096
)

// needsURLs returns the data of a backend's answer that the user has to visit URLs
// first.
func needsURLs(err error) (wire.Value, bool) {
	if rpc := (*jsonrpc.Error)(nil); errors.As(err, &rpc) && rpc.Code == legacy2025.CodeURLElicitationRequired {
		return rpc.Data, true
	}
	return "", false
}

// urls turns that answer into a round for the client (B-U10).
func (d *Downgrade) urls(x *port.Exchange, data, info wire.Value, round int64) port.Outcome {
	list, err := legacy2025.ParseURLElicitations(data)
	switch {
	case err != nil, len(list) == 0, len(data) > maxURLData:
		return port.Fail(jsonrpc.NewError(jsonrpc.CodeInternal, "invalid response of the backend"))
	case round > maxURLRounds:
		return port.Fail(jsonrpc.NewError(jsonrpc.CodeInternal, "the backend asks for URLs to be visited again and again"))
	}
	return sendTo(x, list, info, func() (string, error) { return d.rounds.Seal(d.binding(x), round, string(data)) })
}

// sendTo sends the client to URLs, if it has declared that it can be (B-U12).
func sendTo(x *port.Exchange, list []legacy2025.URLElicitation, info wire.Value, seal func() (string, error)) port.Outcome {
	if may, _ := mapping.MayAskUp(x.Caller.Capabilities, legacy2025.MethodElicitationCreate, list[0].Raw()); !may {
		lacks := mapping.Undeclared(legacy2025.MethodElicitationCreate, list[0].Raw())
		return port.Fail(&port.StatusError{Status: http.StatusBadRequest, Err: lacks})
	}
	state, err := seal()
	if err != nil {
		return port.Fail(err)
	}
	return port.Outcome{Result: wire.Value(mapping.AppendUpInputRequired(nil, urlEntries(list), state, info))}
}

func urlEntries(list []legacy2025.URLElicitation) []mapping.InputEntry {
	all := wire.Value(mapping.AppendUpURLElicitations(nil, list))
	entries := make([]mapping.InputEntry, 0, len(list))
	for m := range all.Members() {
		entries = append(entries, mapping.InputEntry{Key: m.Name, Request: m.Value})
	}
	return entries
}

// visited goes on with a request whose client was sent to URLs: it is made again
// when the user has agreed to visit all of them (B-U11).
func (d *Downgrade) visited(ctx context.Context, b *LegacyBackend, x *port.Exchange, round park.Round, answers []port.Answer) port.Outcome {
	list, err := legacy2025.ParseURLElicitations(wire.Value(round.Payload))
	if err != nil || len(list) == 0 {
		return port.Fail(park.ErrState)
	}
	given := make(map[string]wire.Value, len(answers))
	for _, a := range answers {
		given[a.Key] = a.Value
	}
	for _, entry := range urlEntries(list) {
		answer := given[entry.Key]
		action, _ := answer.Get("action").Text()
		switch {
		case !answer.Present():
			return sendTo(x, list, b.serverInfo(), func() (string, error) { return d.rounds.Again(d.binding(x), round) })
		case action == "decline", action == "cancel":
			return notVisited(x, b.serverInfo(), action)
		case action != "accept":
			return port.Fail(wire.Wrong(wire.Join(wire.Join("params.inputResponses", entry.Key), "action"), "accept, decline or cancel"))
		}
	}
	return d.rounds.Do(ctx, round, func(ctx context.Context) port.Outcome {
		for i := range list {
			d.visits.wait(ctx, d.env, b.Name, list[i].ID)
		}
		return d.first(ctx, b, x, round.N+1)
	})
}

// notVisited is the end of a request whose user would not visit a URL.
func notVisited(x *port.Exchange, info wire.Value, action string) port.Outcome {
	message := "The user did not visit the URL that this needs (" + action + ")."
	if x.Message.Method != ext2026.MethodToolsCall {
		return port.Fail(jsonrpc.NewError(jsonrpc.CodeInternal, "%s", message))
	}
	out, _, err := mapping.AppendUpCallResult(nil, wire.Value(mapping.AppendDownFailedResult(nil, message, "")), mapping.UpResultOptions{ServerInfo: info})
	return done(out, err)
}

// visits knows which visits of URLs backends have announced the end of.
type visits struct {
	mu      sync.Mutex
	telling map[string]bool // backends that have ever announced one
	done    *lru.Cache[visit, chan struct{}]
}

type visit struct{ backend, id string }

func newVisits() (*visits, error) {
	cache, err := lru.New[visit, chan struct{}](maxVisits)
	if err != nil {
		return nil, err
	}
	return &visits{telling: make(map[string]bool), done: cache}, nil
}

// of returns what is closed at the end of a visit. It needs the lock.
func (v *visits) of(key visit) chan struct{} {
	ch, ok := v.done.Get(key)
	if !ok {
		ch = make(chan struct{})
		v.done.Add(key, ch)
	}
	return ch
}

// announce takes notifications/elicitation/complete.
func (v *visits) announce(backend string, params wire.Value) {
	id, ok := params.Get("elicitationId").Text()
	if !ok || len(id) > maxURLData {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.telling[backend] = true
	ch := v.of(visit{backend, strings.Clone(id)}) // not the message with it
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// wait waits for the end of a visit, if the backend is one that announces it, but
// not for long: that the user agreed to go there is all that is known for sure.
func (v *visits) wait(ctx context.Context, e env.Env, backend, id string) {
	v.mu.Lock()
	telling, ch := v.telling[backend], v.of(visit{backend, id})
	v.mu.Unlock()
	if !telling {
		return
	}
	timer := e.NewTimer(visitTime)
	defer timer.Stop()
	select {
	case <-ch:
	case <-timer.C:
	case <-ctx.Done():
	}
}
