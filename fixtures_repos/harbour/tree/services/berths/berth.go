// Package berths knows who lies where, and until when.
package berths

import (
	"errors"
	"sort"
	"time"
)

// ErrTooDeep means that no free berth has water enough under the keel.
var ErrTooDeep = errors.New("berths: draught exceeds every free berth")

// Berth is a place at the quay.
type Berth struct {
	Number string
	Length float64 // metres
	Depth  float64 // metres below chart datum
	stays  []Stay
}

// Stay is a ship's time at a berth, the end exclusive.
type Stay struct {
	Ship  Ship
	From  time.Time
	Until time.Time
}

// Ship is what has to fit.
type Ship struct {
	Name    string
	Length  float64
	Draught float64
}

// Overlaps reports whether two stays share any moment.
func (s Stay) Overlaps(other Stay) bool {
	return s.From.Before(other.Until) && other.From.Before(s.Until)
}

// UnderKeelClearance is what must remain between the keel and the mud, in metres.
const UnderKeelClearance = 0.5

// Fits reports whether a ship may lie here at all.
func (b *Berth) Fits(ship Ship) bool {
	return ship.Length <= b.Length && ship.Draught+UnderKeelClearance <= b.Depth
}

// Harbour is all berths together.
type Harbour struct {
	Berths []*Berth
}

// Assign books the shortest berth that fits and is free, so that long ones stay free for long ships.
func (h *Harbour) Assign(stay Stay) (*Berth, error) {
	candidates := make([]*Berth, 0, len(h.Berths))
	for _, berth := range h.Berths {
		if berth.Fits(stay.Ship) && berth.free(stay) {
			candidates = append(candidates, berth)
		}
	}
	if len(candidates) == 0 {
		return nil, ErrTooDeep
	}
	sort.Slice(candidates, func(i, j int) bool { return candidates[i].Length < candidates[j].Length })
	candidates[0].stays = append(candidates[0].stays, stay)
	return candidates[0], nil
}

func (b *Berth) free(stay Stay) bool {
	for _, booked := range b.stays {
		if booked.Overlaps(stay) {
			return false
		}
	}
	return true
}
