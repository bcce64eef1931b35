package compose

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrNoVersion means that a source is pinned to a version that it does not have.
var ErrNoVersion = errors.New("no such version")

// A Strategy says how a budget is divided among the sources without a fixed share.
type Strategy int

// The strategies.
const (
	Equal          Strategy = iota
	Proportional            // by the size of the originals
	Recency                 // the newest gets the most, each older one a step less
	InverseRecency          // the oldest gets the most
)

var strategies = []string{"equal", "proportional", "recency", "inverse-recency"}

// ParseStrategy parses the result of [Strategy.String].
func ParseStrategy(s string) (Strategy, error) {
	i := slices.Index(strategies, s)
	if i < 0 {
		return 0, fmt.Errorf("allocation %q: want equal, proportional, recency or inverse-recency", s)
	}
	return Strategy(i), nil
}

func (s Strategy) String() string { return strategies[s] }

// shares returns the initial share of each source. It fails if the sum of the minimums exceeds the budget.
func (r Request) shares() ([]int, error) {
	shares, free := make([]int, len(r.Sources)), []int(nil)
	short := &BudgetError{Budget: r.Budget, Need: r.Overhead, Frame: r.Overhead}
	for i, s := range r.Sources {
		pin, tags := s.minimum()
		if need := pin.Tokens + tags; s.Share > 0 && need > s.Share {
			return nil, &BudgetError{Budget: s.Share, Need: need, Pins: []Pin{{pin.Session, pin.What, need}}}
		}
		if s.Pin == "" && s.Share > 0 {
			pin, tags = Pin{s.Session, "share", s.Share}, 0
		}
		if s.Pin == "" && s.Share == 0 {
			free = append(free, i)
		}
		shares[i] = pin.Tokens + tags
		short.Need += shares[i]
		short.Frame += tags
		short.Pins = append(short.Pins, pin)
	}
	if short.Need > r.Budget {
		return nil, short
	}
	weights, floors, rest := r.weights(free), make([]int, len(free)), r.Budget-short.Need
	for k, i := range free {
		floors[k] = shares[i]
		rest += shares[i]
	}
	for k, n := range split(rest, weights, floors) {
		shares[free[k]] = n
	}
	return shares, nil
}

// minimum returns the minimum of s in tokens, and the tokens of tags in addition.
func (s Source) minimum() (p Pin, tags int) {
	switch {
	case s.Pin == Original:
		return Pin{s.Session, Original, s.Original}, s.Tags
	case s.Pin != "":
		v := s.pinned()
		return Pin{s.Session, s.Pin, v.Tokens}, v.Tags
	default:
		what := "markers"
		if s.MinTokens < minNew {
			what = "least"
		}
		return Pin{s.Session, what, min(s.originalCost(), max(s.MinTokens, minNew))}, 0
	}
}

// weights returns the relative shares of the free sources.
func (r Request) weights(free []int) []int {
	w := make([]int, len(free))
	byAge := slices.Clone(free) // newest first
	slices.SortStableFunc(byAge, func(a, b int) int { return cmp.Compare(r.distance(a), r.distance(b)) })
	for k, i := range free {
		rank := slices.Index(byAge, i)
		switch r.Strategy {
		case Proportional:
			w[k] = min(max(1, r.Sources[i].Original), 1<<40)
		case Recency:
			w[k] = len(free) - rank
		case InverseRecency:
			w[k] = rank + 1
		default:
			w[k] = 1
		}
	}
	return w
}

// distance returns how many sessions ago source i was.
func (r Request) distance(i int) int {
	if d := r.Sources[i].Distance; d > 0 {
		return d
	}
	return i + 1
}

// split divides total by weights, which must be positive, with a minimum for each. The sum of the result is total,
// which must not be less than the sum of floors. Odd tokens go to the largest remainders, the earlier first.
func split(total int, weights, floors []int) []int {
	out := slices.Clone(floors)
	open := make([]int, len(weights))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		sum := 0
		for _, i := range open {
			sum += weights[i]
		}
		raised := slices.DeleteFunc(slices.Clone(open), func(i int) bool {
			return mulDiv(total, weights[i], sum) >= floors[i]
		})
		if len(raised) == 0 {
			distribute(total, sum, weights, open, out)
			return out
		}
		for _, i := range raised {
			total -= floors[i]
		}
		open = slices.DeleteFunc(open, func(i int) bool { return slices.Contains(raised, i) })
	}
	return out
}

// distribute divides total among the open ones, rounded by largest remainder.
func distribute(total, sum int, weights, open, out []int) {
	left, rest := total, make(map[int]int, len(open))
	for _, i := range open {
		out[i] = mulDiv(total, weights[i], sum)
		rest[i] = remainder(total, weights[i], sum)
		left -= out[i]
	}
	byRest := slices.Clone(open)
	slices.SortStableFunc(byRest, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, i := range byRest[:left] {
		out[i]++
	}
}

// mulDiv returns a*b/c without overflow for non-negative numbers with b <= c.
func mulDiv(a, b, c int) int {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int(q)
}

// remainder returns a*b mod c under the same conditions.
func remainder(a, b, c int) int {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int(bits.Rem64(hi, lo, uint64(c)))
}
