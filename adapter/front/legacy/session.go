package legacy

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/adapter/state"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Headers of the legacy transport.
const (
	headerSession   = "Mcp-Session-Id"
	headerVersion   = "MCP-Protocol-Version"
	headerLastEvent = "Last-Event-ID"
)

// record is what the store keeps of a session. Raw objects are kept as strings
// so that encoding them changes no byte.
type record struct {
	Backend      string   `json:"backend"`
	Principal    string   `json:"principal"` // empty: the session is its own
	Address      string   `json:"address"`
	Version      string   `json:"version"`
	ClientInfo   string   `json:"clientInfo"`
	Capabilities string   `json:"capabilities"`
	Tasks        bool     `json:"tasks,omitempty"` // offered by initialize
	LogLevel     string   `json:"logLevel,omitempty"`
	Resources    []string `json:"resources,omitempty"`
	Home         string   `json:"home"`             // the process that serves it
	Askers       []string `json:"askers,omitempty"` // processes that have a block of request ids, by block
	Kept         string   `json:"kept,omitempty"`   // by the crossing
	Used         bool     `json:"used,omitempty"`   // something has come on it
	Seen         int64    `json:"seen"`             // ms, written once in a quarter of the idle time
}

// maxResources bounds the subscriptions of one session, maxURIs the bytes of their
// URIs, and maxIdentity the size of what a client says about itself, in bytes: all of it
// is read with every request.
const (
	maxResources = 1000
	maxURIs      = 256 << 10
	maxIdentity  = 64 << 10
)

// add adds a subscription, unless there is no room: others may have come in between.
func (r *record) add(uri string) {
	if !slices.Contains(r.Resources, uri) && !r.full(uri) {
		r.Resources = append(r.Resources, uri)
	}
}

// full reports whether the session has no room for another subscription.
func (r *record) full(uri string) bool {
	size := len(uri)
	for _, u := range r.Resources {
		size += len(u)
	}
	return (len(r.Resources) >= maxResources || size > maxURIs) && !slices.Contains(r.Resources, uri)
}

func (r *record) remove(uri string) {
	r.Resources = slices.DeleteFunc(slices.Clone(r.Resources), func(u string) bool { return u == uri })
}

// session is a session as one request sees it.
type session struct {
	id  string
	key string // in the store: the id itself is never kept
	record
	rev state.Rev
}

// caller describes the client of one request.
func (s *session) caller(authorization string) port.Caller {
	principal := s.Principal
	if principal == "" {
		principal = "session:" + s.id
	}
	return port.Caller{
		Session: s.id, Principal: principal, Version: s.Version,
		ClientInfo: wire.Value(s.ClientInfo), Capabilities: wire.Value(s.Capabilities),
		Tasks: s.Tasks, LogLevel: s.LogLevel, Kept: s.Kept, Authorization: authorization,
	}
}

// alone reports whether the end of the session is one for the crossing, too.
func (s *session) alone() bool { return s.Principal == "" || s.Kept != "" }

func (f *Face) sessionKey(id string) string {
	sum := f.Keys.Hash("session id", []byte(id))
	return "session/" + hex.EncodeToString(sum[:16])
}

var (
	errNoSession      = errors.New("no " + headerSession + " header")
	errUnknownSession = errors.New("unknown session")
)

// lookup returns the session a request names. Unknown, expired, ended and
// foreign ones are one error, [errUnknownSession].
func (f *Face) lookup(c *gin.Context, backend string) (*session, error) {
	if f.ctx.Err() != nil {
		return nil, errClosing
	}
	id := c.GetHeader(headerSession)
	if id == "" {
		return nil, errNoSession
	}
	s := &session{id: id, key: f.sessionKey(id)}
	if err := f.read(c.Request.Context(), s); err != nil {
		return nil, err
	}
	// A session that began without a credential belongs to whoever knows its
	// id, also after a backend has asked that client to authenticate.
	if s.Backend != backend || s.Principal != "" && s.Principal != edge.Principal(f.Keys, c.GetHeader("Authorization")) {
		return nil, errUnknownSession
	}
	return s, f.touch(c.Request.Context(), s)
}

func (f *Face) read(ctx context.Context, s *session) error {
	stored, err := f.Store.Get(ctx, s.key)
	if errors.Is(err, state.ErrNotFound) {
		return errUnknownSession
	}
	if err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	s.record, s.rev = record{}, stored.Rev
	if err := json.Unmarshal(stored.Value, &s.record); err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	return nil
}

// create makes the session durable; its id may be told afterwards.
func (f *Face) create(ctx context.Context, s *session) error {
	s.Seen = f.Env.Now().UnixMilli()
	return f.write(ctx, s, state.IfAbsent)
}

func (f *Face) write(ctx context.Context, s *session, cond state.Cond) error {
	value, err := json.Marshal(&s.record)
	if err != nil {
		return fmt.Errorf("write session: %w", err)
	}
	s.rev, err = f.Store.Put(ctx, state.Record{
		Key: s.key, Value: value, Expires: time.UnixMilli(s.Seen).Add(f.lifetime()),
	}, cond)
	if err != nil {
		return fmt.Errorf("write session: %w", err)
	}
	return nil
}

// update applies a change to the stored session, whatever other requests of the
// session change at the same time.
func (f *Face) update(ctx context.Context, s *session, change func(*record)) error {
	for {
		change(&s.record)
		err := f.write(ctx, s, state.IfRev(s.rev))
		if !errors.Is(err, state.ErrConflict) {
			return err
		}
		if err := f.read(ctx, s); err != nil {
			return err
		}
	}
}

// lifetime is how long a session outlives the last time it was written as seen,
// so that it is never idle for less than [Times.SessionIdle].
func (f *Face) lifetime() time.Duration { return f.Times.SessionIdle + f.beatTime() }

// touch keeps the session alive. It writes once in a quarter of the idle time.
func (f *Face) touch(ctx context.Context, s *session) error {
	now := f.Env.Now()
	if now.Sub(time.UnixMilli(s.Seen)) < f.beatTime() {
		return nil
	}
	return f.update(ctx, s, func(r *record) { r.Seen = now.UnixMilli() })
}

// newSession mints a session for a client that is initializing.
func (f *Face) newSession(c *gin.Context, backend string) (*session, error) {
	id, err := env.NewID(f.Env)
	if err != nil {
		return nil, err
	}
	return &session{
		id: id, key: f.sessionKey(id),
		record: record{
			Backend: backend, Home: f.Peers.ID(), Principal: edge.Principal(f.Keys, c.GetHeader("Authorization")), Address: f.Proxies.Client(c.Request),
		},
	}, nil
}

// delete serves DELETE (A-L11).
func (f *Face) delete(c *gin.Context, backend string) {
	s, ok := f.admit(c, backend, call{})
	if !ok {
		return
	}
	if err := f.Store.Delete(context.WithoutCancel(c.Request.Context()), s.key, state.Always); err != nil {
		f.refuseSession(c, "", fmt.Errorf("delete session: %w", err))
		return
	}
	f.end(s.key)
	f.endCrossing(s, c.GetHeader("Authorization"))
	c.Status(http.StatusNoContent)
}

// endCrossing tells the crossing of the end of a session.
func (f *Face) endCrossing(s *session, authorization string) {
	if s.alone() {
		f.spawn(func() { f.Crossing.EndSession(f.ctx, s.Backend, s.caller(authorization)) })
	}
}
