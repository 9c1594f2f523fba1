package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
)

// codeURL asks the client to open a URL before it repeats the request.
const codeURL = -32042

// errHost says that a tool of this era runs elsewhere.
var errHost = errors.New("the tool does not run here")

// withoutHeaders takes the other era's annotations from a tool.
func withoutHeaders(t *tool) {
	for _, label := range t.headers {
		t.input = strings.ReplaceAll(t.input, `,"x-mcp-header":"`+label+`"`, "")
		t.about, _, _ = strings.Cut(t.about, ";")
		t.about += "."
	}
	t.headers = nil
}

// page leads the user to a URL. The page is not there: this server acts as if
// the user had opened it and was done a moment later.
func page(id, message string) object {
	return object{
		"mode": "url", "elicitationId": id, "url": "https://example.com/demo?elicitation=" + id, "message": message,
	}
}

// visited tells the client that the user is done with a page. Spec: 2025-11-25
// client/elicitation, "Completion Notifications for URL Mode Elicitation".
func (s *session) visited(id string) {
	s.notify("notifications/elicitation/complete", object{"elicitationId": id})
}

// visitTool asks in URL mode.
func visitTool() tool {
	return tool{
		name: "visit", title: "Visit", about: "Asks the user to open a page and answers when that is done.",
		input: noInput, use: taskWhenAble, needs: capElicitation,
		prepare: fixed(func(ctx context.Context, h host) (output, error) {
			lh, ok := h.(*legacyHost)
			if !ok {
				return output{}, errHost
			}
			id := rand.Text()
			got, err := h.ask(ctx, question{key: "page", method: methodElicit, params: page(id, "Please open this page.")})
			if err != nil {
				return output{}, err
			}
			action := got.elicited("page").action
			if action != "accept" {
				return output{text: "not visited: " + action}, nil
			}
			if err := pause(ctx, beat); err != nil {
				return output{}, err
			}
			lh.s.visited(id)
			return output{text: "visited"}, nil
		}),
	}
}

// signInTool refuses a call until the user has opened a URL.
func signInTool() tool {
	return tool{
		name: "sign_in", title: "Sign in", about: "Works for a user who has opened a page first, and refuses others with its URL.",
		input: noInput, needs: capElicitation,
		prepare: fixed(func(_ context.Context, h host) (output, error) {
			lh, ok := h.(*legacyHost)
			if !ok {
				return output{}, errHost
			}
			return lh.s.signIn()
		}),
	}
}

// signIn answers for a session that is signed in, and has others sign in.
// Spec: 2025-11-25 client/elicitation, "URL Elicitation Required Error".
func (s *session) signIn() (output, error) {
	if !s.caps.urls {
		return output{}, &refusal{why: "signing in takes a client that can open a URL"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signedIn {
		return output{text: "signed in"}, nil
	}
	if s.signingIn == "" {
		id := rand.Text()
		s.signingIn = id
		s.server.flights.Go(func() {
			if pause(s.ctx, beat) != nil {
				return
			}
			s.mu.Lock()
			s.signedIn = true
			s.mu.Unlock()
			s.visited(id)
		})
	}
	return output{}, &rpcError{
		code: codeURL, message: "sign in first",
		data: object{"elicitations": []object{page(s.signingIn, "Please sign in.")}},
	}
}

// rootsTool asks for the client's roots.
func rootsTool() tool {
	return tool{
		name: "roots", title: "Roots", about: "Asks the client for its roots and names them.",
		input: noInput, use: taskWhenAble, needs: capRoots,
		prepare: fixed(func(ctx context.Context, h host) (output, error) {
			got, err := h.ask(ctx, question{key: "roots", method: methodRoots})
			if err != nil {
				return output{}, err
			}
			uris, _ := readRoots(got["roots"])
			return output{text: "roots: " + strings.Join(uris, " ")}, nil
		}),
	}
}

// hangUpTool ends the connection of its call before it answers. A client finds
// the answer where it left off. Spec: 2025-11-25 basic/transports, "Sending
// Messages to the Server".
func hangUpTool() tool {
	return tool{
		name: "hang_up", title: "Hang up", about: "Closes the connection of its call; the answer waits for the client to come back.",
		input: noInput,
		prepare: fixed(func(ctx context.Context, h host) (output, error) {
			if err := pause(ctx, beat); err != nil {
				return output{}, err
			}
			if lh, ok := h.(*legacyHost); ok && lh.s.version == legacyNewest {
				if sh, ok := lh.host.(*streamHost); ok {
					sh.st.kick()
				}
			}
			if err := pause(ctx, beat); err != nil {
				return output{}, err
			}
			return output{text: "still here"}, nil
		}),
	}
}
