package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A job is a long operation. It belongs to the server, not to the request that started it.
type job struct {
	JobAnswer
	cancel context.CancelFunc
	done   chan struct{}
}

// A JobAnswer is a job as clients see it.
type JobAnswer struct {
	ID     string   `json:"jobId"`
	What   string   `json:"what"`
	State  string   `json:"state"`            // running, done, failed or cancelled
	Result string   `json:"result,omitempty"` // URL of the result
	Error  *Problem `json:"error,omitempty"`
}

// Limits of the numbers of running and of remembered jobs.
const (
	maxJobs  = 4
	keptJobs = 100
)

// Patience is the time that running requests get when the server shuts down.
const Patience = 2 * time.Second

// Jobs are the jobs of a server.
type Jobs struct {
	events    *Events
	problemOf func(error) *Problem
	ctx       context.Context
	stop      context.CancelFunc
	slots     chan struct{}
	run       sync.WaitGroup

	mu   sync.Mutex
	last int
	all  []*job
}

func newJobs(e *Events, problemOf func(error) *Problem) *Jobs {
	ctx, stop := context.WithCancel(context.Background())
	return &Jobs{events: e, problemOf: problemOf, ctx: ctx, stop: stop, slots: make(chan struct{}, maxJobs)}
}

// end cancels the running jobs and waits for them for a short time.
func (j *Jobs) end() {
	j.stop()
	done := make(chan struct{})
	go func() {
		j.run.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(Patience):
	}
}

// Start runs work as a job. work returns the URL of its result.
func (j *Jobs) Start(what string, work func(context.Context) (result string, err error)) JobAnswer {
	ctx, cancel := context.WithCancel(j.ctx)
	j.mu.Lock()
	j.last++
	one := &job{JobAnswer: JobAnswer{ID: fmt.Sprintf("j%d", j.last), What: what, State: "running"}, cancel: cancel,
		done: make(chan struct{})}
	j.all = append(j.all, one)
	j.forget()
	out := one.JobAnswer
	j.mu.Unlock()
	j.events.send("job", out)
	j.run.Go(func() {
		defer close(one.done)
		defer cancel()
		var result string
		err := ctx.Err()
		select {
		case j.slots <- struct{}{}:
			result, err = work(ctx)
			<-j.slots
		case <-ctx.Done():
			err = ctx.Err()
		}
		j.finish(ctx, one, result, err)
	})
	return out
}

// forget removes the oldest ended jobs.
func (j *Jobs) forget() {
	for len(j.all) > keptJobs {
		i := slices.IndexFunc(j.all, func(o *job) bool { return o.State != "running" })
		if i < 0 {
			return
		}
		j.all = slices.Delete(j.all, i, i+1)
	}
}

func (j *Jobs) finish(ctx context.Context, one *job, result string, err error) {
	j.mu.Lock()
	switch {
	case err == nil:
		one.State, one.Result = "done", result
	case ctx.Err() != nil:
		one.State = "cancelled"
	default:
		one.State, one.Error = "failed", j.problemOf(err)
	}
	out := one.JobAnswer
	j.mu.Unlock()
	j.events.send("job", out)
	if err == nil {
		j.events.Changed()
	}
}

func (j *Jobs) find(id string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range j.all {
		if one.ID == id {
			return one, nil
		}
	}
	return nil, NoSuch("job", id)
}

// Find returns the current state of a job.
func (j *Jobs) Find(id string) (JobAnswer, error) {
	one, err := j.find(id)
	if err != nil {
		return JobAnswer{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return one.JobAnswer, nil
}

// Wait waits for the end of a job, or that of ctx.
func (j *Jobs) Wait(ctx context.Context, id string) error {
	one, err := j.find(id)
	if err != nil {
		return err
	}
	select {
	case <-one.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Cancel cancels a job and waits for its end, or that of ctx. An ended job does not change.
func (j *Jobs) Cancel(ctx context.Context, id string) (JobAnswer, error) {
	one, err := j.find(id)
	if err != nil {
		return JobAnswer{}, err
	}
	one.cancel()
	select {
	case <-one.done:
	case <-ctx.Done():
	}
	return j.Find(id)
}

func (j *Jobs) list() []JobAnswer {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := []JobAnswer{}
	for _, one := range slices.Backward(j.all) {
		out = append(out, one.JobAnswer)
	}
	return out
}

func jobEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/jobs", "List jobs, newest first", nil, nil, lists("jobs", []JobAnswer{}), (*API).apiJobs},
		{http.MethodGet, "/jobs/{jobId}", "Get a job", nil, nil, answers(JobAnswer{}), (*API).apiJob},
		{http.MethodDelete, "/jobs/{jobId}", "Cancel a job", nil, nil, answers(JobAnswer{}), (*API).apiCancelJob},
		{http.MethodGet, "/events", "Stream changes as server-sent events: memory, job", nil, nil,
			answers("text/event-stream"), (*API).apiEvents},
	}
}

func (s *API) apiJobs(*call) (reply, error) { return ok(listOf("jobs", s.Jobs.list(), "")) }

func (s *API) apiJob(c *call) (reply, error) {
	return result(s.Jobs.Find(c.r.PathValue("jobId")))
}

func (s *API) apiCancelJob(c *call) (reply, error) {
	return result(s.Jobs.Cancel(c, c.r.PathValue("jobId")))
}
