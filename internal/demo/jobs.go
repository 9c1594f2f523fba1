package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// jobStatus is where a job stands. Both eras use these words.
type jobStatus string

const (
	jobWorking   jobStatus = "working"
	jobInput     jobStatus = "input_required"
	jobCompleted jobStatus = "completed"
	jobFailed    jobStatus = "failed"
	jobCancelled jobStatus = "cancelled"
)

func (s jobStatus) terminal() bool {
	return s == jobCompleted || s == jobFailed || s == jobCancelled
}

var (
	errNoJob    = errors.New("unknown or expired task")
	errManyJobs = errors.New("too many tasks")
)

// snapshot is a job at one moment.
type snapshot struct {
	id               string
	status           jobStatus
	message          string // empty if there is nothing to say
	created, updated time.Time
	open             []question // not answered yet, in the order asked
	out              output     // of a completed job
	err              *rpcError  // of a failed job
}

// job is a snapshot that changes. jobs.mu guards it.
type job struct {
	snapshot
	stop    context.CancelFunc
	expiry  *time.Timer
	answers answers
	settled chan struct{} // closed when the open questions are answered
}

// jobs runs tools in the background and remembers them for a while.
type jobs struct {
	ttl     time.Duration
	limit   int            // bounds what callers can make this process remember
	changed func(snapshot) // told of every change, in order, under mu
	ctx     context.Context
	stopAll context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	byID map[string]*job
}

func newJobs(ttl time.Duration, limit int, changed func(snapshot)) *jobs {
	ctx, stop := context.WithCancel(context.Background())
	return &jobs{ttl: ttl, limit: limit, changed: changed, ctx: ctx, stopAll: stop, byID: map[string]*job{}}
}

// start creates a job that get finds from now on, and runs p in it. given are
// answers that were collected before.
func (s *jobs) start(p plan, given answers) (snapshot, error) {
	j, ctx, err := s.create(given)
	if err != nil {
		return snapshot{}, err
	}
	seed := j.snapshot // nobody else knows the id yet
	if p.instant {
		s.run(ctx, j, p)
		return s.get(seed.id)
	}
	s.running.Go(func() { s.run(ctx, j, p) })
	return seed, nil
}

func (s *jobs) create(given answers) (*job, context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= s.limit {
		return nil, nil, errManyJobs
	}
	ctx, stop := context.WithCancel(s.ctx)
	now := time.Now()
	j := &job{
		snapshot: snapshot{id: rand.Text(), status: jobWorking, message: "starting", created: now, updated: now},
		stop:     stop, answers: answers{},
	}
	for k, v := range given {
		j.answers[k] = v
	}
	s.byID[j.id] = j
	j.expiry = time.AfterFunc(s.ttl, func() { s.forget(j.id) })
	return j, ctx, nil
}

// run does the work of j and records how it ended.
func (s *jobs) run(ctx context.Context, j *job, p plan) {
	defer j.stop()
	out, err := p.run(ctx, &jobHost{jobs: s, job: j})
	s.change(j, func(j *job) bool {
		switch {
		case err == nil:
			j.status, j.out, j.message = jobCompleted, out, ""
		case ctx.Err() != nil:
			return false // cancelled, forgotten, or the server is closing
		default:
			e := asRPC(err)
			j.status, j.err, j.message = jobFailed, e, e.message
		}
		return true
	})
}

// change applies edit, which says whether it changed anything, unless the job
// has ended: an end is final.
func (s *jobs) change(j *job, edit func(*job) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changeLocked(j, edit)
}

func (s *jobs) changeLocked(j *job, edit func(*job) bool) {
	if j.status.terminal() || !edit(j) {
		return
	}
	j.updated = time.Now()
	if j.status != jobInput {
		j.open = nil
	}
	s.changed(j.snapshot)
}

// find returns a job that has not expired. The caller holds mu.
func (s *jobs) find(id string) (*job, error) {
	j := s.byID[id]
	// the timer may be late
	if j == nil || time.Since(j.created) >= s.ttl {
		return nil, errNoJob
	}
	return j, nil
}

func (s *jobs) get(id string) (snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(id)
	if err != nil {
		return snapshot{}, err
	}
	return j.snapshot, nil
}

func (s *jobs) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.byID[id]; j != nil {
		j.stop()
		delete(s.byID, id)
	}
}

// cancel ends a job that has not ended. One that has stays as it is.
func (s *jobs) cancel(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(id)
	if err != nil {
		return err
	}
	s.changeLocked(j, func(j *job) bool {
		j.status, j.message = jobCancelled, "cancelled by request"
		return true
	})
	j.stop()
	return nil
}

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

// close stops every job and waits for them.
func (s *jobs) close() {
	s.stopAll()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.byID {
		j.expiry.Stop()
	}
	clear(s.byID)
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
	got := answers{}
	for _, q := range questions {
		got[q.key] = h.job.answers[q.key]
	}
	return got, nil
}
