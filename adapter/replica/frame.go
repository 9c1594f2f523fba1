package replica

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/taskbridge/taskbridge/adapter/seal"
)

// kind is what a frame is for.
type kind int64

const (
	// Numbered frames arrive once and in order.

	kindRequest kind = iota + 1 // from the caller: the sealed head of a request
	kindBody                    // a piece of its body
	kindLeave                   // its client is gone
	kindRefuse                  // from the server: it is not this process's to serve
	kindHead                    // the head of the answer
	kindPiece                   // a piece of its body
	kindEnd                     // the answer is complete
	kindCut                     // the answer breaks off here

	// The others may be lost.

	kindAck     // says what has arrived and how much of it was used
	kindProbe   // asks for one
	kindUnknown // there is no such exchange
)

// frame is one message between two processes.
type frame struct {
	kind kind
	link string // the exchange
	from string // the process
	seq  int64  // from 1 for a numbered frame, else 0
	data string
}

const frameVersion = 1

var errFrame = errors.New("not a frame")

func (f *frame) encode() []byte {
	var out seal.Fields
	out.Int(frameVersion)
	out.Int(int64(f.kind))
	out.String(f.link)
	out.String(f.from)
	out.Int(f.seq)
	out.String(f.data)
	return out.Bytes()
}

func decodeFrame(payload []byte) (frame, error) {
	in := seal.ReadFields(payload)
	version := in.Int()
	f := frame{kind: kind(in.Int()), link: in.String(), from: in.String(), seq: in.Int(), data: in.String()}
	if in.Done() != nil || version != frameVersion || f.link == "" || f.from == "" {
		return frame{}, errFrame
	}
	return f, nil
}

// head is a request without its body. The order of a header's values is kept.
type head struct {
	pass
	method, target, host, remote string
	header                       http.Header
	size                         int64 // of the body, in bytes
}

// pass is what a sealed head is good for: one body, in one exchange, for a while. Who
// can only send messages can do nothing else with it.
type pass struct {
	link, from, to string
	digest         string    // of the body
	at             time.Time // to the millisecond
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return string(sum[:])
}

func (h *head) encode() []byte {
	var out seal.Fields
	out.String(h.link)
	out.String(h.from)
	out.String(h.to)
	out.String(h.digest)
	out.Int(h.at.UnixMilli())
	out.String(h.method)
	out.String(h.target)
	out.String(h.host)
	out.String(h.remote)
	out.Int(h.size)
	appendHeader(&out, h.header)
	return out.Bytes()
}

func decodeHead(payload []byte) (head, error) {
	in := seal.ReadFields(payload)
	h := head{pass: pass{link: in.String(), from: in.String(), to: in.String(), digest: in.String(), at: time.UnixMilli(in.Int())}}
	h.method, h.target, h.host, h.remote, h.size = in.String(), in.String(), in.String(), in.String(), in.Int()
	h.header = readHeader(in)
	if in.Done() != nil || h.size < 0 {
		return head{}, errFrame
	}
	if _, err := url.ParseRequestURI(h.target); err != nil {
		return head{}, errFrame
	}
	return h, nil
}

// answer is the head of an answer.
type answer struct {
	status int
	header http.Header
}

func (a *answer) encode() []byte {
	var out seal.Fields
	out.Int(int64(a.status))
	appendHeader(&out, a.header)
	return out.Bytes()
}

func decodeAnswer(payload string) (answer, error) {
	in := seal.ReadFields([]byte(payload))
	a := answer{status: int(in.Int())}
	a.header = readHeader(in)
	if in.Done() != nil || a.status < 200 || a.status > 999 {
		return answer{}, errFrame
	}
	return a, nil
}

func appendHeader(out *seal.Fields, header http.Header) {
	n := int64(0)
	for _, values := range header {
		n += int64(len(values))
	}
	out.Int(n)
	for name, values := range header {
		for _, v := range values {
			out.String(name)
			out.String(v)
		}
	}
}

func readHeader(in *seal.Reader) http.Header {
	header := make(http.Header)
	for n := in.Int(); n > 0; n-- {
		name, value := in.String(), in.String()
		if name == "" {
			break // cut off: the reader says so
		}
		header[name] = append(header[name], value)
	}
	return header
}

// receipt is what an acknowledgement says: the newest frame that has arrived in
// order, and the bytes of those that were used.
type receipt struct{ got, used int64 }

func (r receipt) encode() string {
	var out seal.Fields
	out.Int(r.got)
	out.Int(r.used)
	return string(out.Bytes())
}

func decodeReceipt(data string) (receipt, error) {
	in := seal.ReadFields([]byte(data))
	r := receipt{in.Int(), in.Int()}
	return r, in.Done()
}
