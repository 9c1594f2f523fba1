package demo

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// The headers of the transport.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "MCP-Protocol-Version"
	headerResume  = "Last-Event-ID"
)

// admit checks what can be checked without a session or a body. Spec:
// 2025-11-25 basic/transports, "Security Warning", "Sending Messages" and
// "Protocol Version Header".
func (l *Legacy) admit(w http.ResponseWriter, r *http.Request) error {
	if err := l.opts.admits(r); err != nil {
		return err
	}
	events, plain := accepted(r.Header)
	if len(r.Header.Values("Accept")) == 0 {
		events, plain = false, false // clients have to say what they take
	}
	switch r.Method {
	case http.MethodPost:
		if !events || !plain {
			return refuse(http.StatusNotAcceptable, "want Accept: "+typeJSON+", "+typeEvents)
		}
		if err := isJSON(r); err != nil {
			return err
		}
	case http.MethodGet:
		if !events {
			return refuse(http.StatusNotAcceptable, "want Accept: "+typeEvents)
		}
	case http.MethodDelete:
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		return refuse(http.StatusMethodNotAllowed, "only GET, POST and DELETE are served here")
	}
	for _, version := range r.Header.Values(headerVersion) {
		if !speaks(version) {
			return refuse(http.StatusBadRequest, "unsupported "+headerVersion+": this server speaks "+
				strings.Join([]string{legacyNewest, legacyMiddle, legacyOldest}, ", "))
		}
	}
	return nil
}

// find returns the session a request names. An unknown one tells the client to
// begin anew. Spec: "Session Management".
func (l *Legacy) find(r *http.Request) (*session, error) {
	ids := r.Header.Values(headerSession)
	if len(ids) != 1 {
		return nil, refuse(http.StatusBadRequest, "want the header "+headerSession+", once")
	}
	l.mu.Lock()
	s := l.sessions[ids[0]]
	l.mu.Unlock()
	if s == nil {
		return nil, refuse(http.StatusNotFound, "there is no such session")
	}
	if version := r.Header.Get(headerVersion); version != "" && version != s.version {
		return nil, refuse(http.StatusBadRequest, "this session speaks "+s.version)
	}
	return s, nil
}

// open keeps a new session, unless there are too many.
func (l *Legacy) open(version string, caps legacyCaps) (*session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.sessions) >= maxSessions {
		return nil, refuse(http.StatusServiceUnavailable, "there are too many sessions")
	}
	s := newSession(l, rand.Text(), version, caps)
	l.sessions[s.id] = s
	return s, nil
}

// end forgets a session, its streams and its tasks.
func (l *Legacy) end(s *session, cause error) {
	l.mu.Lock()
	delete(l.sessions, s.id)
	l.mu.Unlock()
	s.end(cause)
	l.jobs.forgetAll(s.id)
}
