package faultnet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httputil"
	"time"
)

// maxHead bounds the head of a message.
const maxHead = 1 << 20

var errHead = errors.New("the head of a message is too large")

// readHead reads up to the empty line, which belongs to it.
func readHead(r *bufio.Reader) (head []byte, err error) {
	for {
		line, err := r.ReadBytes('\n')
		head = append(head, line...)
		if err != nil {
			return head, err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return head, nil
		}
		if len(head) > maxHead {
			return head, errHead
		}
	}
}

// requests reads what a client sends and hands each message to found.
func (l *link) requests(found func(*Message)) error {
	r := bufio.NewReader(l.client)
	for {
		head, err := readHead(r)
		if err != nil {
			return err
		}
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
		if err != nil {
			return fmt.Errorf("request: %w", err)
		}
		m := &Message{Way: ToServer, Form: Request, Method: request.Method, head: head, At: time.Now()}
		if m.Body, m.head, err = body(r, head, request.ContentLength, request.TransferEncoding); err != nil {
			m.torn = true
		}
		l.asked(request.Method)
		found(m)
		if err != nil {
			return err
		}
	}
}

// body reads a body whose length is known or that is chunked. The head that it
// returns announces the length.
func body(r *bufio.Reader, head []byte, length int64, coding []string) (body, announced []byte, err error) {
	if len(coding) == 0 {
		body = make([]byte, 0, min(max(length, 0), maxHead))
		buffer := bytes.NewBuffer(body)
		_, err = io.CopyN(buffer, r, max(length, 0))
		return buffer.Bytes(), head, err
	}
	body, err = io.ReadAll(httputil.NewChunkedReader(r))
	if err == nil {
		_, err = readHead(r) // the trailer
	}
	announced = bytes.Replace(head, []byte("\r\nTransfer-Encoding: chunked"), fmt.Appendf(nil, "\r\nContent-Length: %d", len(body)), 1)
	if err != nil { // it stays shorter than announced
		announced = bytes.Replace(head, []byte("\r\nTransfer-Encoding: chunked"), fmt.Appendf(nil, "\r\nContent-Length: %d", len(body)+1), 1)
	}
	return body, announced, err
}

// responses reads what a server sends and hands each message to found.
func (l *link) responses(found func(*Message)) error {
	r := bufio.NewReader(l.server)
	for {
		head, err := readHead(r)
		if err != nil {
			return err
		}
		method := l.answered()
		response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), &http.Request{Method: method})
		if err != nil {
			return fmt.Errorf("response: %w", err)
		}
		_ = response.Body.Close()
		m := &Message{Way: ToClient, Form: Response, Method: method, Status: response.StatusCode, head: head, At: time.Now()}
		media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
		switch {
		case media == "text/event-stream" && len(response.TransferEncoding) > 0:
			m.Form = Head
			found(m)
			err = events(r, m, found)
		case response.ContentLength < 0 && len(response.TransferEncoding) == 0: // up to the end
			m.Body, err = io.ReadAll(r)
			found(m)
			if err == nil {
				err = io.EOF
			}
		default:
			if m.Body, m.head, err = body(r, head, response.ContentLength, response.TransferEncoding); err != nil {
				m.torn = true
			}
			found(m)
		}
		if err != nil {
			return err
		}
	}
}

// events reads the events of a stream up to its end.
func events(r *bufio.Reader, head *Message, found func(*Message)) error {
	lines := bufio.NewReader(httputil.NewChunkedReader(r))
	var event []byte
	tell := func(torn bool) {
		m := &Message{Way: ToClient, Form: Event, Method: head.Method, Body: event, torn: torn, At: time.Now()}
		if event = nil; !bytes.Contains(m.Body, []byte("data:")) && !bytes.Contains(m.Body, []byte("id:")) {
			m.Form = blank
		}
		found(m)
	}
	for {
		line, err := lines.ReadBytes('\n')
		event = append(event, line...)
		switch {
		case err == nil && len(bytes.TrimRight(line, "\r\n")) > 0:
			continue
		case err == nil:
			tell(false)
			continue
		}
		if len(event) > 0 {
			tell(!errors.Is(err, io.EOF))
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		if _, err := readHead(r); err != nil {
			return err
		}
		found(&Message{Way: ToClient, Form: end, Method: head.Method, head: []byte(last), At: time.Now()})
		return nil
	}
}
