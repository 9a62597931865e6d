package queue

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// MaxAttempts is how often a job may fail before it is buried.
const MaxAttempts = 8

// Handler does the work of one kind of job.
type Handler func(ctx context.Context, job *Job) error

// Pool runs jobs on a fixed number of goroutines.
type Pool struct {
	Store    Store
	Backoff  Backoff
	Poll     time.Duration
	LeaseFor time.Duration
	handlers map[string]Handler
}

// NewPool has the default pauses and no handlers yet.
func NewPool(store Store) *Pool {
	return &Pool{
		Store:    store,
		Backoff:  DefaultBackoff,
		Poll:     time.Second,
		LeaseFor: time.Minute,
		handlers: make(map[string]Handler),
	}
}

// Handle registers what runs jobs of a kind; the last registration wins.
func (p *Pool) Handle(kind string, handler Handler) {
	p.handlers[kind] = handler
}

// Run works until the context ends, then waits for the jobs in progress: a graceful shutdown.
func (p *Pool) Run(ctx context.Context, workers int) {
	var group sync.WaitGroup
	for i := 0; i < clamp(workers, 64); i++ {
		group.Add(1)
		go func(name string) {
			defer group.Done()
			p.work(ctx, name)
		}(workerName(i))
	}
	group.Wait()
}

func workerName(number int) string {
	return "worker-" + string(rune('a'+number%26))
}

func (p *Pool) work(ctx context.Context, name string) {
	for ctx.Err() == nil {
		job, err := p.Store.Lease(name, time.Now(), p.LeaseFor)
		if errors.Is(err, ErrEmpty) {
			select {
			case <-ctx.Done():
			case <-time.After(p.Poll):
			}
			continue
		}
		if err != nil {
			slog.Error("cannot lease", "worker", name, "error", err)
			continue
		}
		p.runOne(ctx, job)
	}
}

// runOne runs a job and records how it ended: removed, put back with a pause, or buried.
func (p *Pool) runOne(ctx context.Context, job *Job) {
	handler, known := p.handlers[job.Kind]
	if !known {
		p.bury(job, errors.New("no handler for this kind"))
		return
	}
	if err := p.recoverPanic(ctx, handler, job); err != nil {
		job.Attempts++
		if job.Attempts >= MaxAttempts {
			p.bury(job, err)
			return
		}
		job.State = Waiting
		job.Lease = nil
		job.RunAt = time.Now().Add(p.Backoff.Pause(job.Attempts))
		_ = p.Store.Put(job)
		return
	}
	_ = p.Store.Remove(job.ID)
}

// recoverPanic turns a handler's panic into an error, so that one bad job does not stop the pool.
func (p *Pool) recoverPanic(ctx context.Context, handler Handler, job *Job) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = errors.New("handler panicked")
			slog.Error("panic", "job", job.ID, "value", value)
		}
	}()
	return handler(ctx, job)
}

// bury moves a job to the graveyard, where it stays until somebody looks.
func (p *Pool) bury(job *Job, reason error) {
	job.State = Buried
	job.Lease = nil
	slog.Warn("buried", "job", job.ID, "kind", job.Kind, "reason", reason)
	_ = p.Store.Put(job)
}
