package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// question is one request to the client's user or model. Its key is unique
// within the tool, so it never stands for two questions of one task or call.
type question struct {
	key    string
	method string // elicitation/create, sampling/createMessage or roots/list
	params any
}

// answers are what came back, by the key of the question.
type answers map[string]json.RawMessage

// missing lists the questions that have no answer yet.
func (a answers) missing(questions []question) []question {
	var out []question
	for _, q := range questions {
		if _, ok := a[q.key]; !ok {
			out = append(out, q)
		}
	}
	return out
}

// elicitation is the answer to a form.
type elicitation struct {
	action  string
	content json.RawMessage // nil if the form was not filled in
}

// readElicitation reads an answer to a form, and says whether it is one.
func readElicitation(raw json.RawMessage) (elicitation, bool) {
	m, err := readObject(raw)
	if err != nil {
		return elicitation{}, false
	}
	action, _ := readString(m["action"])
	if action != "accept" && action != "decline" && action != "cancel" {
		return elicitation{}, false
	}
	content, given := m["content"]
	if given && firstByte(content) != '{' {
		return elicitation{}, false
	}
	return elicitation{action: action, content: content}, true
}

// String shows the action and the content as the user gave it, null for none.
func (e elicitation) String() string {
	if e.content == nil {
		return e.action + " null"
	}
	var b bytes.Buffer
	if err := json.Compact(&b, e.content); err != nil {
		return e.action + " null"
	}
	return e.action + " " + b.String()
}

// readSample returns the text of a model's answer, and whether it is one. Its
// content is one block or a list of them.
func readSample(raw json.RawMessage) (string, bool) {
	m, err := readObject(raw)
	if err != nil {
		return "", false
	}
	role, _ := readString(m["role"])
	model, _ := readString(m["model"])
	if role == "" || model == "" {
		return "", false
	}
	blocks := []json.RawMessage{m["content"]}
	if firstByte(m["content"]) == '[' && json.Unmarshal(m["content"], &blocks) != nil {
		return "", false
	}
	var texts []string
	for _, block := range blocks {
		b, err := readObject(block)
		if err != nil {
			return "", false
		}
		if text, ok := readString(b["text"]); ok {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " "), true
}

// readRoots returns the addresses in a list of roots, and whether it is one.
func readRoots(raw json.RawMessage) ([]string, bool) {
	m, err := readObject(raw)
	var entries []json.RawMessage
	if err != nil || firstByte(m["roots"]) != '[' || json.Unmarshal(m["roots"], &entries) != nil {
		return nil, false
	}
	uris := make([]string, 0, len(entries))
	for _, entry := range entries {
		root, err := readObject(entry)
		uri, ok := readString(root["uri"])
		if err != nil || !ok {
			return nil, false
		}
		uris = append(uris, uri)
	}
	return uris, true
}

// accepts says whether raw is an answer this question can be settled with.
func (q question) accepts(raw json.RawMessage) bool {
	var ok bool
	switch q.method {
	case methodSample:
		_, ok = readSample(raw)
	case methodRoots:
		_, ok = readRoots(raw)
	default:
		_, ok = readElicitation(raw)
	}
	return ok
}

// elicited is the answer to a form that accepts has passed.
func (a answers) elicited(key string) elicitation {
	e, _ := readElicitation(a[key])
	return e
}

// The methods of the kinds of question, alike in both eras.
const (
	methodRoots  = "roots/list"
	methodElicit = "elicitation/create"
	methodSample = "sampling/createMessage"
)

// form asks for one string, named like the question's key.
func form(key, message string) question {
	return question{key: key, method: methodElicit, params: object{
		"mode": "form", "message": message,
		"requestedSchema": object{
			"type":       "object",
			"properties": object{key: object{"type": "string", "title": message}},
			"required":   []string{key},
		},
	}}
}

// asker makes a tool that asks, works for a moment before and after, and
// answers with what tell makes of the answers.
func asker(name, title, about string, asks []question, tell func(context.Context, host) (string, error)) tool {
	return tool{
		name: name, title: title, about: about, input: noInput, use: taskWhenAble, needs: capElicitation, asks: asks,
		prepare: fixed(func(ctx context.Context, h host) (output, error) {
			h.say("thinking of a question")
			if err := pause(ctx, beat); err != nil {
				return output{}, err
			}
			text, err := tell(ctx, h)
			if err != nil {
				return output{}, err
			}
			h.say("thinking about the answer")
			if err := pause(ctx, beat); err != nil {
				return output{}, err
			}
			return output{text: text}, nil
		}),
	}
}

func askTool() tool {
	q := form("name", "What is your name?")
	return asker("ask", "Ask", "Asks one question and answers with what was said.", []question{q},
		func(ctx context.Context, h host) (string, error) {
			got, err := h.ask(ctx, q)
			if err != nil {
				return "", err
			}
			return got.elicited(q.key).String(), nil
		})
}

func askTwiceTool() tool {
	first, second := form("first", "What comes first?"), form("second", "What comes second?")
	return asker("ask_twice", "Ask twice", "Asks two questions, the second after the first is answered.", []question{first, second},
		func(ctx context.Context, h host) (string, error) {
			one, err := h.ask(ctx, first)
			if err != nil {
				return "", err
			}
			if err := pause(ctx, beat); err != nil {
				return "", err
			}
			two, err := h.ask(ctx, second)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("first: %s; second: %s", one.elicited(first.key), two.elicited(second.key)), nil
		})
}

func askBothTool() tool {
	left, right := form("left", "What is on the left?"), form("right", "What is on the right?")
	return asker("ask_both", "Ask both", "Asks two questions at the same time; they may be answered one by one.", []question{left, right},
		func(ctx context.Context, h host) (string, error) {
			got, err := h.ask(ctx, left, right)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("left: %s; right: %s", got.elicited(left.key), got.elicited(right.key)), nil
		})
}

func askFirstTool() tool {
	q := form("name", "Who is to be greeted?")
	t := asker("ask_first", "Ask first", "Asks a question before there is a task, then greets whoever was named.", []question{q},
		func(ctx context.Context, h host) (string, error) {
			got, err := h.ask(ctx, q)
			if err != nil {
				return "", err
			}
			e := got.elicited(q.key)
			content, err := readObject(e.content)
			if e.action != "accept" || err != nil {
				return "Hello, whoever you are (" + e.action + ")", nil
			}
			guest, _ := readString(content[q.key])
			return "Hello, " + guest, nil
		})
	t.asksFirst = true
	return t
}

func sampleTool() tool {
	q := question{key: "haiku", method: methodSample, params: object{
		"messages":  []object{{"role": "user", "content": object{"type": "text", "text": "A haiku about bridges, please."}}},
		"maxTokens": 50,
	}}
	t := asker("sample", "Sample", "Asks the client's model for a haiku.", []question{q},
		func(ctx context.Context, h host) (string, error) {
			got, err := h.ask(ctx, q)
			if err != nil {
				return "", err
			}
			text, _ := readSample(got[q.key])
			return "model said: " + text, nil
		})
	t.needs = capSampling
	return t
}
