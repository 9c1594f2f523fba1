package demo

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// roundTTL is how long a client may take to answer the questions of a call.
const roundTTL = 10 * time.Minute

// round is what a call that ended with questions remembers in the client's
// hands. Spec: 2026-07-28 basic/patterns/mrtr, "Server Requirements".
type round struct {
	Tool    string                     `json:"tool"`
	Args    []byte                     `json:"args"`    // digest of the arguments
	Asked   []string                   `json:"asked"`   // keys of the questions
	Answers map[string]json.RawMessage `json:"answers"` // of earlier rounds
	Expires time.Time                  `json:"expires"`
}

// sealer signs request states, which come back through a client's hands.
type sealer struct{ key []byte }

func newSealer() sealer {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return sealer{key: key}
}

func (s sealer) sign(text string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s sealer) seal(r round) (string, error) {
	plain, err := encode(r)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(plain)
	return text + "." + s.sign(text), nil
}

// open returns the round in a state that this server has sealed.
func (s sealer) open(state string) (round, bool) {
	var r round
	text, mac, _ := strings.Cut(state, ".")
	if !hmac.Equal([]byte(mac), []byte(s.sign(text))) {
		return r, false
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	return r, err == nil && json.Unmarshal(plain, &r) == nil
}

// askRound answers a call with questions instead of a result.
func (m *Modern) askRound(t *tool, req *request, known answers, open []question) (object, error) {
	r := round{Tool: t.name, Args: digest(req.params["arguments"]), Answers: known, Expires: time.Now().Add(roundTTL)}
	for _, q := range open {
		r.Asked = append(r.Asked, q.key)
	}
	state, err := m.sealer.seal(r)
	if err != nil {
		return nil, err
	}
	return object{"resultType": "input_required", "inputRequests": inputRequests(open), "requestState": state}, nil
}

// roundAnswers collects the answers that a call brings along. Without a state
// it is a first call, whose answers are to questions nobody has asked.
func (m *Modern) roundAnswers(t *tool, req *request) (answers, error) {
	known := answers{}
	var given members
	if raw, ok := req.params["inputResponses"]; ok {
		var err error
		if given, err = readObject(raw); err != nil {
			return nil, invalid("params.inputResponses: %v", err)
		}
	}
	raw, ok := req.params["requestState"]
	if !ok || len(t.asks) == 0 {
		return known, nil
	}
	state, _ := readString(raw)
	r, ok := m.sealer.open(state)
	if !ok || r.Tool != t.name || !bytes.Equal(r.Args, digest(req.params["arguments"])) {
		return nil, invalid("params.requestState: not a state of this call")
	}
	if time.Now().After(r.Expires) {
		return nil, invalid("params.requestState: expired")
	}
	for key, answer := range r.Answers {
		known[key] = answer
	}
	for _, q := range t.asks {
		// what is no answer is asked again
		if slices.Contains(r.Asked, q.key) && q.accepts(given[q.key]) {
			known[q.key] = given[q.key]
		}
	}
	return known, nil
}

// digest tells the arguments of one call from those of another. A retry may
// write the same arguments in another order.
func digest(raw json.RawMessage) []byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	canonical := []byte("{}")
	if dec.Decode(&v) == nil {
		if text, err := encode(v); err == nil {
			canonical = text
		}
	}
	sum := sha256.Sum256(canonical)
	return sum[:]
}

// inputRequests is the map of questions as both a result and a task carry it.
func inputRequests(questions []question) object {
	out := object{}
	for _, q := range questions {
		out[q.key] = object{"method": q.method, "params": q.params}
	}
	return out
}
