package demo

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxBody is the largest request body, in bytes.
const maxBody = 4 << 20

// admit checks what can be checked without looking into the message, and
// returns the body. Spec: 2026-07-28 basic/transports/streamable-http,
// "Security & Endpoint" and "Earlier Streamable HTTP Revisions".
func (m *Modern) admit(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := m.opts.admits(r); err != nil {
		return nil, err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, refuse(http.StatusMethodNotAllowed, "only POST is served here")
	}
	if err := isJSON(r); err != nil {
		return nil, err
	}
	if events, plain := accepted(r.Header); !events && !plain {
		return nil, refuse(http.StatusNotAcceptable, "want Accept: "+typeJSON+", "+typeEvents)
	}
	return readBody(w, r)
}

// admits says whether a request comes from where it may.
func (o Options) admits(r *http.Request) error {
	if !o.isOurs(r.Host) {
		return refuse(http.StatusForbidden, "the Host header names another host")
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || !o.isOurs(u.Host) {
			return refuse(http.StatusForbidden, "the Origin header names another origin")
		}
	}
	return nil
}

// isJSON checks the declared type of the body.
func isJSON(r *http.Request) error {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != typeJSON {
		return refuse(http.StatusUnsupportedMediaType, "want Content-Type: "+typeJSON)
	}
	return nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body is larger than 4 MiB")
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the body could not be read")
	}
	return body, nil
}

// refuse is an error that concerns the HTTP request as a whole.
func refuse(status int, message string) error {
	return &rpcError{code: codeRequest, message: message, status: status}
}

// isOurs says whether a host, with or without a port, is one this server is
// known by. A page of another site that had its name point here is not.
func (o Options) isOurs(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
		if strings.Contains(h, ":") {
			name = "[" + h + "]"
		}
	}
	return slices.Contains(o.Hosts, strings.ToLower(name))
}

// accepted reads the Accept header: whether the client takes an event stream,
// and whether it takes plain JSON. No header takes both.
func accepted(h http.Header) (events, plain bool) {
	all := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(all) == "" {
		return true, true
	}
	for part := range strings.SplitSeq(all, ",") {
		t, params, err := mime.ParseMediaType(part)
		if err != nil || strings.Trim(params["q"], "0.") == "" && params["q"] != "" {
			continue
		}
		switch t {
		case "*/*":
			events, plain = true, true
		case "application/*", typeJSON:
			plain = true
		case "text/*", typeEvents:
			events = true
		}
	}
	return events, plain
}
