package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// update hands answers to a job. Answers to questions that are not open are
// ignored; a malformed answer to one that is refuses them all.
func (s *jobs) update(id string, given map[string]json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(id)
	if err != nil {
		return err
	}
	for _, q := range j.open {
		if raw, ok := given[q.key]; ok && !q.accepts(raw) {
			return fmt.Errorf("inputResponses.%s: not an answer to %s", q.key, q.method)
		}
	}
	s.changeLocked(j, func(j *job) bool {
		var open []question
		for _, q := range j.open {
			if raw, ok := given[q.key]; ok {
				j.answers[q.key] = raw
			} else {
				open = append(open, q)
			}
		}
		if len(open) == len(j.open) {
			return false
		}
		j.open = open
		if len(open) == 0 {
			j.status, j.message = jobWorking, "answered"
			close(j.settled)
		}
		return true
	})
	return nil
}

// refuse ends the open questions of a job without an answer, if the one with
// that key is among them: the tool gets cause instead.
func (s *jobs) refuse(id, key string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(id)
	if err != nil {
		return
	}
	s.changeLocked(j, func(j *job) bool {
		if !slices.ContainsFunc(j.open, func(q question) bool { return q.key == key }) {
			return false
		}
		j.status, j.message, j.refused = jobWorking, "not answered", cause
		close(j.settled)
		return true
	})
}

// jobHost is the host of a tool that runs as a job. Jobs have no progress and
// no log.
type jobHost struct {
	jobs *jobs
	job  *job
}

func (h *jobHost) say(message string) {
	h.jobs.change(h.job, func(j *job) bool {
		if j.message == message {
			return false
		}
		j.message = message
		return true
	})
}

func (h *jobHost) progress(int, int, string) {}

func (h *jobHost) log(string, string) {}

func (h *jobHost) ask(ctx context.Context, questions ...question) (answers, error) {
	settled := make(chan struct{})
	h.jobs.change(h.job, func(j *job) bool {
		open := j.answers.missing(questions)
		if len(open) == 0 {
			close(settled)
			return false
		}
		j.status, j.message, j.open, j.settled = jobInput, "waiting for an answer", open, settled
		return true
	})
	select {
	case <-settled:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	h.jobs.mu.Lock()
	defer h.jobs.mu.Unlock()
	if h.job.refused != nil {
		return nil, h.job.refused
	}
	got := answers{}
	for _, q := range questions {
		got[q.key] = h.job.answers[q.key]
	}
	return got, nil
}
