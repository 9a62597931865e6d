// Copyright of somebody.

// Package depot stores parcels.
package depot

import "fmt"

// MaxParcels is the capacity.
const MaxParcels = 12

const (
	// Small is the smallest size.
	Small Size = iota
	Large // not its doc

	huge, giant = 3, 4
)

var registry = map[string]int{}

var (
	first, second = 1, 2
	// clean removes all.
	clean = func() { registry = nil }
)

var _ Store = (*memory)(nil)

// Size of a parcel.
type Size int

type (
	// Parcel is one.
	Parcel struct {
		Weight float64 // in kg
	}
	Alias = Parcel
)

// Store keeps parcels.
type Store interface {
	// Put stores one.
	Put(p Parcel) error
	Get(id string) (Parcel, error)
	fmt.Stringer
}

type List[T any] struct{ items []T }

type Number interface{ ~int | ~float64 }

// Push appends.
func (l *List[T]) Push(item T) { l.items = append(l.items, item) }

func (l List[T]) Len() int { return len(l.items) }

// NewParcel makes one.
//
//go:noinline
func NewParcel[W Number](weight W) (*Parcel, error) {
	const local = 1
	var alsoLocal = 2
	type hidden struct{ a int }
	inner := func() int { return local + alsoLocal }
	return &Parcel{Weight: float64(inner())}, nil
}

func (p Parcel) String() string { return fmt.Sprint(p.Weight) }; func one() {}; func two() {}

func assembly(x int) int

func _() { var _ = [1]struct{}{} }

type (
	shelf struct{ size int }
	crate struct{ shelf }
)

const (
	low = 1
	top = 2
)

func init() {
	go func() { var insideLiteral = 1; _ = insideLiteral }()
}

func (*Parcel) unnamed() {
}
