package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
)

const (
	// maxWork is the longest work or grind, in milliseconds.
	maxWork = 600_000
	// maxSteps is the largest count.
	maxSteps = 1000
	// beat is how long a tool without a length of its own takes, so that a
	// task of it is seen working.
	beat = 200 * time.Millisecond
	// step is the time between two steps of count.
	step = 100 * time.Millisecond
)

// codeFire is a code of the application's own: it lies outside the range that
// JSON-RPC and both eras reserve, so a bridge must pass it on as it is.
const codeFire = -31050

const (
	noInput = `{"type":"object","additionalProperties":false}`
	msInput = `{"type":"object","properties":{"ms":{"type":"integer","minimum":0,"maximum":600000,"default":1000,` +
		`"description":"How long to work, in milliseconds"}}}`
)

func addTool() tool {
	return tool{
		name: "add", title: "Add", about: "Adds two numbers. Answers at once and is never a task.",
		input: `{"type":"object","properties":{"a":{"type":"number","description":"First summand"},` +
			`"b":{"type":"number","description":"Second summand"}},"required":["a","b"]}`,
		output: `{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}`,
		prepare: func(a args) (plan, error) {
			sum, err := addNumbers(a.given("a"), a.given("b"))
			if err != nil {
				return plan{}, err
			}
			return plan{run: func(context.Context, host) (output, error) {
				return output{text: sum.String(), structured: object{"sum": sum}}, nil
			}}, nil
		},
	}
}

// addNumbers keeps every digit of whole numbers, so that a number bent on the
// way here shows in the sum.
func addNumbers(a, b json.RawMessage) (json.Number, error) {
	var fa, fb float64
	if a == nil || json.Unmarshal(a, &fa) != nil {
		return "", errors.New("a: want a number")
	}
	if b == nil || json.Unmarshal(b, &fb) != nil {
		return "", errors.New("b: want a number")
	}
	ia, okA := new(big.Int).SetString(string(a), 10)
	ib, okB := new(big.Int).SetString(string(b), 10)
	if okA && okB {
		return json.Number(ia.Add(ia, ib).String()), nil
	}
	sum := fa + fb
	if math.IsInf(sum, 0) {
		return "", errors.New("the sum is too large")
	}
	return json.Number(strconv.FormatFloat(sum, 'g', -1, 64)), nil
}

// worker makes a tool that takes the time it is told to.
func worker(name, title, about string, use taskUse, verb string) tool {
	return tool{
		name: name, title: title, about: about, input: msInput, use: use,
		prepare: func(a args) (plan, error) {
			ms, err := a.integer("ms", 1000, maxWork)
			if err != nil {
				return plan{}, err
			}
			run := func(ctx context.Context, h host) (output, error) {
				h.say(fmt.Sprintf("working for %d ms", ms))
				if err := pause(ctx, time.Duration(ms)*time.Millisecond); err != nil {
					return output{}, err
				}
				return output{text: fmt.Sprintf("%s %d ms", verb, ms)}, nil
			}
			return plan{run: run, instant: ms == 0}, nil
		},
	}
}

func workTool() tool {
	return worker("work", "Work", "Works for the given time, as a task if the caller can follow one. "+
		"With 0 ms the task is born finished; a long one is there to be cancelled.", taskWhenAble, "worked")
}

func grindTool() tool {
	return worker("grind", "Grind", "Works for the given time and never makes a task of it: "+
		"the answer comes when the work is done.", taskNever, "ground")
}

func onlyTaskTool() tool {
	return worker("only_task", "Task only", "Works for the given time, and only as a task: "+
		"a caller that cannot follow tasks is refused.", taskAlways, "worked")
}

func structuredTool() tool {
	return tool{
		name: "structured", title: "Structured", about: "A short task that ends with structured content.",
		input: noInput, use: taskWhenAble,
		output: `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`,
		prepare: fixed(func(ctx context.Context, h host) (output, error) {
			h.say("counting")
			if err := pause(ctx, beat); err != nil {
				return output{}, err
			}
			return output{text: `{"n":7}`, structured: object{"n": 7}}, nil
		}),
	}
}

func toolErrorTool() tool {
	return tool{
		name: "tool_error", title: "Tool error", about: "A short task whose tool reports an error of its own.",
		input: noInput, use: taskWhenAble,
		prepare: fixed(func(ctx context.Context, _ host) (output, error) {
			if err := pause(ctx, beat); err != nil {
				return output{}, err
			}
			return output{text: "tool says no", isError: true}, nil
		}),
	}
}

func failTool() tool {
	return tool{
		name: "fail", title: "Fail", about: "A short task that fails with a JSON-RPC error.",
		input: noInput, use: taskWhenAble,
		prepare: fixed(func(ctx context.Context, _ host) (output, error) {
			if err := pause(ctx, beat); err != nil {
				return output{}, err
			}
			return output{}, &rpcError{code: codeFire, message: "the database is on fire", data: object{"shard": 3}}
		}),
	}
}

func countTool() tool {
	return tool{
		name: "count", title: "Count", about: "Counts slowly on the call itself, with progress and log messages on the way.",
		input: `{"type":"object","properties":{"steps":{"type":"integer","minimum":0,"maximum":1000,"default":3,` +
			`"description":"How far to count"}}}`,
		prepare: func(a args) (plan, error) {
			steps, err := a.integer("steps", 3, maxSteps)
			if err != nil {
				return plan{}, err
			}
			return plan{run: func(ctx context.Context, h host) (output, error) {
				h.log("debug", fmt.Sprintf("counting to %d", steps))
				for i := 1; i <= steps; i++ {
					if err := pause(ctx, step); err != nil {
						return output{}, err
					}
					h.progress(i, steps, fmt.Sprintf("step %d of %d", i, steps))
					h.log("info", fmt.Sprintf("step %d", i))
				}
				h.log("warning", "nothing left to count")
				return output{text: fmt.Sprintf("counted to %d", steps)}, nil
			}}, nil
		},
	}
}

func locateTool() tool {
	return tool{
		name: "locate", title: "Locate", about: "Names the site it was sent to; the site also travels in the header Mcp-Param-Site.",
		input: `{"type":"object","properties":{"site":{"type":"string","description":"Where to send the call",` +
			`"x-mcp-header":"Site"}},"required":["site"]}`,
		headers: map[string]string{"site": "Site"},
		prepare: func(a args) (plan, error) {
			site, err := a.text("site")
			if err != nil {
				return plan{}, err
			}
			return plan{run: func(context.Context, host) (output, error) {
				return output{text: "site " + site}, nil
			}}, nil
		},
	}
}

func announceTool(announce func(list string)) tool {
	return tool{
		name: "announce", title: "Announce", about: "Tells every listener that a list may have changed.",
		input: `{"type":"object","properties":{"list":{"type":"string","enum":["tools","prompts","resources"],` +
			`"default":"tools","description":"Which list"}}}`,
		prepare: func(a args) (plan, error) {
			list := "tools"
			if a.given("list") != nil {
				var err error
				if list, err = a.text("list"); err != nil {
					return plan{}, err
				}
			}
			if list != "tools" && list != "prompts" && list != "resources" {
				return plan{}, errors.New("list: want tools, prompts or resources")
			}
			return plan{run: func(context.Context, host) (output, error) {
				announce(list)
				return output{text: "announced " + list}, nil
			}}, nil
		},
	}
}

// runsTool shows the tally to those who cannot call Runs.
func (c *catalogue) runsTool() tool {
	return tool{
		name: "runs", title: "Runs", about: "Says how often each tool has run since the server started.",
		input: noInput, output: `{"type":"object","additionalProperties":{"type":"integer"}}`, uncounted: true,
		prepare: fixed(func(context.Context, host) (output, error) {
			counts := c.counts()
			text, err := json.Marshal(counts)
			return output{text: string(text), structured: counts}, err
		}),
	}
}
