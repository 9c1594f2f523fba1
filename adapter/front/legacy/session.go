package legacy

import (
	"context"
	"crypto/sha256"
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
	Owner        string   `json:"owner"` // keyed hash of the principal; empty: the session is its own
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
	principal string // of the owner, who has made this request; empty without one
	verified  bool   // by the bridge itself
	rev       state.Rev
}

// caller describes the client of one request.
func (s *session) caller(authorization string) port.Caller {
	principal := s.principal
	if principal == "" {
		principal = "session:" + s.id
	}
	return port.Caller{
		Session: s.id, Principal: principal, Verified: s.verified, Version: s.Version,
		ClientInfo: wire.Value(s.ClientInfo), Capabilities: wire.Value(s.Capabilities),
		Tasks: s.Tasks, LogLevel: s.LogLevel, Kept: s.Kept, Authorization: authorization,
	}
}

// alone reports whether the end of the session is one for the crossing, too.
func (s *session) alone() bool { return s.Owner == "" || s.Kept != "" }

// sessionKey names the record of a session. Nobody guesses an id, so that its hash
// needs no key, which would have to be kept for as long as the session lives.
func sessionKey(id string) string {
	sum := sha256.Sum256([]byte("session id\x00" + id))
	return "session/" + hex.EncodeToString(sum[:16])
}

// owners are the hashes under which sessions of a principal may be, the current one
// first.
func (f *Face) owners(principal string) []string {
	sums := f.Keys.Hashes("session owner", []byte(principal))
	out := make([]string, len(sums))
	for i := range sums {
		out[i] = hex.EncodeToString(sums[i][:16])
	}
	return out
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
	s := &session{id: id, key: sessionKey(id), verified: edge.Verified(c)}
	if err := f.read(c.Request.Context(), s); err != nil {
		return nil, err
	}
	// A session that began without a credential belongs to whoever knows its
	// id, also after a backend has asked that client to authenticate.
	if s.Backend != backend || !f.owns(s, edge.Principal(c)) {
		return nil, errUnknownSession
	}
	return s, f.touch(c.Request.Context(), s)
}

// owns reports whether a session is a principal's, and has it act as that.
func (f *Face) owns(s *session, principal string) bool {
	switch {
	case s.Owner == "":
		return true
	case principal == "" || !slices.Contains(f.owners(principal), s.Owner):
		return false
	default:
		s.principal = principal
		return true
	}
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

// touch keeps the session alive, under the newest secret. It writes once in a quarter
// of the idle time.
func (f *Face) touch(ctx context.Context, s *session) error {
	now := f.Env.Now()
	if now.Sub(time.UnixMilli(s.Seen)) < f.beatTime() {
		return nil
	}
	return f.update(ctx, s, f.seen(s))
}

// seen is the change of a session that is in use: what has been written under another
// secret is under the newest one from now on.
func (f *Face) seen(s *session) func(r *record) {
	return func(r *record) {
		r.Seen = f.Env.Now().UnixMilli()
		if s.principal != "" {
			r.Owner = f.owners(s.principal)[0]
		}
	}
}

// newSession mints a session for a client that is initializing.
func (f *Face) newSession(c *gin.Context, backend string) (*session, error) {
	id, err := env.NewID(f.Env)
	if err != nil {
		return nil, err
	}
	s := &session{
		id: id, key: sessionKey(id), principal: edge.Principal(c), verified: edge.Verified(c),
		record: record{Backend: backend, Home: f.Peers.ID(), Address: f.Proxies.Client(c.Request)},
	}
	if s.principal != "" {
		s.Owner = f.owners(s.principal)[0]
	}
	return s, nil
}

// delete serves DELETE (A-L11).
func (f *Face) delete(c *gin.Context, backend string) {
	s, ok := f.admit(c, backend, call{})
	if !ok || !f.proven(c, s) {
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
