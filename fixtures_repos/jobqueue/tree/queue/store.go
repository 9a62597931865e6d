package queue

import (
	"errors"
	"sort"
	"sync"
	"time"
)

// ErrEmpty means that no job is due.
var ErrEmpty = errors.New("queue: no job is due")

// Store is where jobs live. Its methods may be called from many goroutines.
type Store interface {
	Put(job *Job) error
	Lease(worker string, now time.Time, duration time.Duration) (*Job, error)
	Remove(id uint64) error
	All() ([]*Job, error)
}

// MemoryStore is a Store for tests and for jobs that need not survive a restart.
type MemoryStore struct {
	mu   sync.Mutex
	jobs map[uint64]*Job
	next uint64
}

// NewMemoryStore is an empty store.
func NewMemoryStore() *MemoryStore {
	return &MemoryStore{jobs: make(map[uint64]*Job)}
}

// Put adds a job, giving it an id if it has none, or replaces the one with its id.
func (m *MemoryStore) Put(job *Job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if job.ID == 0 {
		m.next++
		job.ID = m.next
	}
	copied := *job
	m.jobs[job.ID] = &copied
	return nil
}

// Lease hands out the oldest job that is due and that no living worker holds.
func (m *MemoryStore) Lease(worker string, now time.Time, duration time.Duration) (*Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var best *Job
	for _, job := range m.jobs {
		free := job.State == Waiting || (job.State == Leased && job.Lease.Expired(now))
		if free && !job.RunAt.After(now) && (best == nil || job.RunAt.Before(best.RunAt)) {
			best = job
		}
	}
	if best == nil {
		return nil, ErrEmpty
	}
	best.State = Leased
	best.Lease = &Lease{Worker: worker, Expires: now.Add(duration)}
	copied := *best
	return &copied, nil
}

// Remove forgets a job; removing an unknown one is no error.
func (m *MemoryStore) Remove(id uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, id)
	return nil
}

// All lists every job by id.
func (m *MemoryStore) All() ([]*Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	jobs := make([]*Job, 0, len(m.jobs))
	for _, job := range m.jobs {
		jobs = append(jobs, job)
	}
	sort.Slice(jobs, func(i, j int) bool { return jobs[i].ID < jobs[j].ID })
	return jobs, nil
}
