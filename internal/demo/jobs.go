package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
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
	owner            string // who may see it; empty if it is nobody's in particular
	seq              uint64 // jobs are numbered in the order of their creation
	ttl              time.Duration
	status           jobStatus
	was              jobStatus     // before the latest change
	pulse            chan struct{} // closed at the next change, and when the job is forgotten
	message          string        // empty if there is nothing to say
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
	settled chan struct{} // closed when the open questions are answered or refused
	refused error         // why they were refused; nil if they were not
}

// jobs runs tools in the background and remembers them for a while.
type jobs struct {
	ttl     time.Duration  // the longest, and what a job has that asks for none
	limit   int            // bounds what callers can make this process remember
	changed func(snapshot) // told of every change, in order, under mu
	forgot  func(snapshot) // told of every job that is forgotten, under mu; may be nil
	ctx     context.Context
	stopAll context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	byID map[string]*job
	last uint64 // seq of the latest job
}

// order is what a job is started with, beside its plan.
type order struct {
	owner string
	ttl   time.Duration // 0 for the longest there is
	given answers       // collected before
}

func newJobs(ttl time.Duration, limit int, changed func(snapshot)) *jobs {
	ctx, stop := context.WithCancel(context.Background())
	return &jobs{ttl: ttl, limit: limit, changed: changed, ctx: ctx, stopAll: stop, byID: map[string]*job{}}
}

// start creates a job that get finds from now on, and runs p in it.
func (s *jobs) start(p plan, o order) (snapshot, error) {
	j, ctx, err := s.create(o)
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

func (s *jobs) create(o order) (*job, context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= s.limit {
		return nil, nil, errManyJobs
	}
	ctx, stop := context.WithCancel(s.ctx)
	now := time.Now()
	s.last++
	j := &job{
		snapshot: snapshot{
			id: rand.Text(), owner: o.owner, seq: s.last, ttl: s.ttl, pulse: make(chan struct{}),
			status: jobWorking, was: jobWorking, message: "starting", created: now, updated: now,
		},
		stop: stop, answers: answers{},
	}
	if o.ttl > 0 && o.ttl < s.ttl {
		j.ttl = o.ttl
	}
	for k, v := range o.given {
		j.answers[k] = v
	}
	s.byID[j.id] = j
	j.expiry = time.AfterFunc(j.ttl, func() { s.forget(j.id) })
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
// has ended, which is final, or is forgotten.
func (s *jobs) change(j *job, edit func(*job) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changeLocked(j, edit)
}

func (s *jobs) changeLocked(j *job, edit func(*job) bool) {
	was := j.status
	if s.byID[j.id] != j || was.terminal() || !edit(j) {
		return
	}
	j.updated, j.was = time.Now(), was
	if j.status != jobInput {
		j.open = nil
	}
	close(j.pulse)
	j.pulse = make(chan struct{})
	s.changed(j.snapshot)
}

// find returns a job that has not expired. The caller holds mu.
func (s *jobs) find(id string) (*job, error) {
	j := s.byID[id]
	// the timer may be late
	if j == nil || time.Since(j.created) >= j.ttl {
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

// look calls do with a job as it is, which does not change before do returns.
func (s *jobs) look(id string, do func(snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j, err := s.find(id); err == nil {
		do(j.snapshot)
	}
}

// list returns the jobs of an owner with a seq above after, in order.
func (s *jobs) list(owner string, after uint64) []snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []snapshot
	for id, j := range s.byID {
		if _, err := s.find(id); err == nil && j.owner == owner && j.seq > after {
			out = append(out, j.snapshot)
		}
	}
	slices.SortFunc(out, func(a, b snapshot) int { return cmp.Compare(a.seq, b.seq) })
	return out
}

func (s *jobs) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.byID[id]; j != nil {
		s.forgetLocked(j)
	}
}

// forgetAll forgets the jobs of an owner.
func (s *jobs) forgetAll(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.byID {
		if j.owner == owner {
			s.forgetLocked(j)
		}
	}
}

func (s *jobs) forgetLocked(j *job) {
	j.stop()
	j.expiry.Stop()
	delete(s.byID, j.id)
	close(j.pulse)
	if s.forgot != nil {
		s.forgot(j.snapshot)
	}
}

// cancel ends a job that has not ended, and says whether it did. One that has
// stays as it is.
func (s *jobs) cancel(id string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(id)
	if err != nil {
		return false, err
	}
	running := !j.status.terminal()
	s.changeLocked(j, func(j *job) bool {
		j.status, j.message = jobCancelled, "cancelled by request"
		return true
	})
	j.stop()
	return running, nil
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
