// Package queue keeps background jobs and hands them to workers.
package queue

import (
	"encoding/json"
	"fmt"
	"time"
)

// State says where a job is in its life.
type State int

// The states of a job, in the order in which it usually passes through them.
const (
	Waiting State = iota
	Leased
	Done
	Buried
)

// String is the state's name as shown by `jobq list`.
func (s State) String() string {
	switch s {
	case Waiting:
		return "waiting"
	case Leased:
		return "leased"
	case Done:
		return "done"
	case Buried:
		return "buried"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Job is one piece of work.
type Job struct {
	ID       uint64          `json:"id"`
	Kind     string          `json:"kind"`
	Payload  json.RawMessage `json:"payload"`
	Attempts int             `json:"attempts"`
	State    State           `json:"state"`
	RunAt    time.Time       `json:"run_at"`
	Lease    *Lease          `json:"lease,omitempty"`
}

// Lease is a worker's time-limited right to run a job.
type Lease struct {
	Worker  string    `json:"worker"`
	Expires time.Time `json:"expires"`
}

// Expired reports whether the worker has had its time.
func (l *Lease) Expired(now time.Time) bool {
	return l == nil || now.After(l.Expires)
}

// Decode unpacks the payload into a handler's own type.
func Decode[T any](job *Job) (T, error) {
	var value T
	if err := json.Unmarshal(job.Payload, &value); err != nil {
		return value, fmt.Errorf("job %d: payload of kind %q: %w", job.ID, job.Kind, err)
	}
	return value, nil
}
