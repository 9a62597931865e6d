package berths

import "time"

// Tariff is what a night costs, in cents.
type Tariff struct {
	PerMetre int
	Electric int
	Minimum  int
}

// Fee charges for every night begun, and at least the minimum.
func (t Tariff) Fee(stay Stay, withElectricity bool) int {
	nights := int(stay.Until.Sub(stay.From)/(24*time.Hour)) + 1
	night := int(stay.Ship.Length) * t.PerMetre
	if withElectricity {
		night += t.Electric
	}
	return max(nights*night, t.Minimum)
}
