package queue

import (
	"testing"
	"time"
)

func TestExpiredLeaseIsHandedOutAgain(t *testing.T) {
	store := NewMemoryStore()
	_ = store.Put(&Job{Kind: "resize"})
	start := time.Now()
	if _, err := store.Lease("a", start, time.Second); err != nil {
		t.Fatal(err)
	}
	job, err := store.Lease("b", start.Add(2*time.Second), time.Second)
	if err != nil || job.Lease.Worker != "b" {
		t.Fatalf("job %v, error %v", job, err)
	}
}

func TestPauseNeverExceedsMaximum(t *testing.T) {
	backoff := Backoff{Base: time.Second, Max: time.Minute}
	if pause := backoff.Pause(40); pause != time.Minute {
		t.Fatalf("pause is %v", pause)
	}
}

func TestScheduleEveryTenMinutes(t *testing.T) {
	schedule, err := ParseSchedule("*/10 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2024, 5, 1, 12, 3, 30, 0, time.UTC)
	if next := schedule.Next(now); next.Minute() != 10 {
		t.Fatalf("next is %v", next)
	}
}
