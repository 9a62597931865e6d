package queue

import (
	"math/rand"
	"time"
)

// Backoff computes how long a failed job rests before its next attempt.
type Backoff struct {
	Base time.Duration
	Max  time.Duration
	// Jitter is the share of the pause that is random, 0 to 1, so that jobs that failed together part ways.
	Jitter float64
}

// DefaultBackoff rests ten seconds first and at most an hour.
var DefaultBackoff = Backoff{Base: 10 * time.Second, Max: time.Hour, Jitter: 0.2}

// Pause doubles with every attempt until it reaches Max.
func (b Backoff) Pause(attempt int) time.Duration {
	pause := b.Base
	for i := 1; i < attempt && pause < b.Max; i++ {
		pause *= 2
	}
	if pause > b.Max {
		pause = b.Max
	}
	return pause + time.Duration(b.Jitter*rand.Float64()*float64(pause))
}

// clamp keeps a number of workers between one and limit.
func clamp(workers, limit int) int {
	if workers < 1 {
		return 1
	}
	if workers > limit {
		return limit
	}
	return workers
}
