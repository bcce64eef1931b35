package keepit

import "fmt"

// Decay contains the constants of the threshold. The zero value means [DefaultDecay].
type Decay struct {
	Minimal     Weight `json:"minimal"`
	Moderate    Weight `json:"moderate"`
	Aggressive  Weight `json:"aggressive"`
	MaxDistance int    `json:"max_distance"` // greater distances have the same effect
	Pinned      Weight `json:"pinned"`       // this weight and higher ones always survive
}

// DefaultDecay is the decay without configuration.
var DefaultDecay = Decay{Minimal: 10, Moderate: 30, Aggressive: 50, MaxDistance: 10, Pinned: Pinned}

// Valid returns an error if a weight is out of range or the distance is less than 1.
func (d Decay) Valid() error {
	if d == (Decay{}) {
		return nil
	}
	for _, w := range []Weight{d.Minimal, d.Moderate, d.Aggressive, d.Pinned} {
		if w < 0 || w > 100 {
			return fmt.Errorf("keepit decay: weight %s is out of range: want 0.00 to 1.00", w)
		}
	}
	if d.MaxDistance < 1 {
		return fmt.Errorf("keepit decay: greatest distance %d: want 1 or more", d.MaxDistance)
	}
	return nil
}

// Pressure is the strength of a compression: its level, its ratio (rounded up) and how many sessions ago the session
// was (1 = the newest).
type Pressure struct {
	Level    Level
	Ratio    int
	Distance int
	Decay    Decay // zero: DefaultDecay
}

const bound = 1 << 40 // limit of ratios: products must fit in an int64

func (p Pressure) decay() Decay {
	if p.Decay == (Decay{}) {
		return DefaultDecay
	}
	return p.Decay
}

// parts returns the base, ratio x distance, and the greatest distance.
func (p Pressure) parts() (base, push, most int64) {
	d := p.decay()
	base = int64([...]Weight{d.Minimal, d.Moderate, d.Aggressive}[min(max(p.Level, Minimal), Aggressive)])
	most = int64(max(d.MaxDistance, 1))
	return base, min(max(int64(p.Ratio), 0), bound) * min(max(int64(p.Distance), 0), most), most
}

// Pins reports whether a marker of weight w survives any pressure.
func (p Pressure) Pins(w Weight) bool { return w >= p.decay().Pinned }

// Keeps reports whether a marker of weight w survives: it is pinned, or 10w >= 10 base + ratio x min(distance, 10).
func (p Pressure) Keeps(w Weight) bool {
	if p.Pins(w) {
		return true
	}
	base, push, most := p.parts()
	return int64(w)*most >= base*most+push
}

// Threshold is the least weight that survives without being pinned, in thousandths (650 = 0.65), rounded up.
func (p Pressure) Threshold() int {
	base, push, most := p.parts()
	return int(10*base + (10*push+most-1)/most)
}

// Margin is the distance of w from the threshold in thousandths, negative below it.
func (p Pressure) Margin(w Weight) int { return 10*int(w) - p.Threshold() }

// String returns the threshold as a sum: "0.65 = 0.50 (aggressive) + 30/100 (ratio) x 5/10 (sessions)".
func (p Pressure) String() string {
	base, _, most := p.parts()
	return fmt.Sprintf("%s = %s (%s) + %d/100 (ratio) x %d/%d (sessions)", Thousandths(p.Threshold()), Weight(base), p.Level,
		max(p.Ratio, 0), min(max(int64(p.Distance), 0), most), most)
}

// Thousandths formats a threshold or margin with two decimals, or three if the third is not 0: "0.65", "0.135".
func Thousandths(n int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	if n%10 == 0 {
		return fmt.Sprintf("%s%d.%02d", sign, n/1000, n%1000/10)
	}
	return fmt.Sprintf("%s%d.%03d", sign, n/1000, n%1000)
}

// Fate is the effect of a pressure on a weight.
type Fate byte

// The fates, as the preview prints them.
const (
	Survives   Fate = 'S'
	OnTheEdge  Fate = '=' // survives, exactly on the threshold
	Summarised Fate = '.'
)

// Fate returns the fate of a marker of weight w.
func (p Pressure) Fate(w Weight) Fate {
	switch {
	case !p.Keeps(w):
		return Summarised
	case !p.Pins(w) && p.Margin(w) == 0:
		return OnTheEdge
	}
	return Survives
}

// PreviewDistances are the columns of a preview.
var PreviewDistances = [...]int{1, 2, 3, 5, 7, 10}

// PreviewRow contains the fates of one weight at one level and ratio, at each of [PreviewDistances].
type PreviewRow struct {
	Level Level                       `json:"level"`
	Ratio int                         `json:"ratio"`
	Fates [len(PreviewDistances)]Fate `json:"-"`
}

// Preview returns the fates of w at typical pressures: 5:1, 15:1, 30:1 and 50:1, each with its level.
func Preview(w Weight, d Decay) []PreviewRow {
	var rows []PreviewRow
	for _, ratio := range []int{5, 15, 30, 50} {
		r := PreviewRow{Level: LevelFor(ratio), Ratio: ratio}
		for i, dist := range PreviewDistances {
			r.Fates[i] = Pressure{Level: r.Level, Ratio: ratio, Distance: dist, Decay: d}.Fate(w)
		}
		rows = append(rows, r)
	}
	return rows
}
