package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Schedule is a crontab line: minute, hour, day of month, month, day of week.
type Schedule struct {
	fields [5]map[int]bool
}

var fieldLimits = [5]struct{ low, high int }{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}

// ParseSchedule reads five fields of numbers, `*`, lists `1,15` and steps `*/10`.
func ParseSchedule(line string) (*Schedule, error) {
	words := strings.Fields(line)
	if len(words) != 5 {
		return nil, fmt.Errorf("cron: %d fields instead of 5 in %q", len(words), line)
	}
	schedule := &Schedule{}
	for i, word := range words {
		allowed, err := parseField(word, fieldLimits[i].low, fieldLimits[i].high)
		if err != nil {
			return nil, err
		}
		schedule.fields[i] = allowed
	}
	return schedule, nil
}

func parseField(word string, low, high int) (map[int]bool, error) {
	allowed := make(map[int]bool)
	for _, part := range strings.Split(word, ",") {
		step := 1
		if before, after, found := strings.Cut(part, "/"); found {
			number, err := strconv.Atoi(after)
			if err != nil || number < 1 {
				return nil, fmt.Errorf("cron: bad step in %q", part)
			}
			part, step = before, number
		}
		first, last := low, high
		if part != "*" {
			number, err := strconv.Atoi(part)
			if err != nil || number < low || number > high {
				return nil, fmt.Errorf("cron: %q is not between %d and %d", part, low, high)
			}
			first, last = number, number
		}
		for value := first; value <= last; value += step {
			allowed[value] = true
		}
	}
	return allowed, nil
}

// Next is the first minute after `now` that the schedule names; the zero time if none comes within four years.
func (s *Schedule) Next(now time.Time) time.Time {
	moment := now.Truncate(time.Minute).Add(time.Minute)
	for end := moment.AddDate(4, 0, 0); moment.Before(end); moment = moment.Add(time.Minute) {
		if s.matches(moment) {
			return moment
		}
	}
	return time.Time{}
}

func (s *Schedule) matches(t time.Time) bool {
	values := [5]int{t.Minute(), t.Hour(), t.Day(), int(t.Month()), int(t.Weekday())}
	for i, value := range values {
		if !s.fields[i][value] {
			return false
		}
	}
	return true
}
