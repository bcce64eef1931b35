package term

import (
	"slices"
)

// The costs of git's "did you mean": swapping two letters is free, a missing letter is likely, a wrong one less
// so, a superfluous one least. A distance of farthest is no match.
const (
	SwapCost       = 0
	SubstituteCost = 2
	InsertCost     = 1
	DeleteCost     = 3
	farthest       = 7
)

// costs of the edits between two words.
type costs struct{ swap, substitute, insert, del int }

// Suggest returns the names most similar to word, none if all are too far: if more than a third of a name is wrong,
// unless it begins with most of the word. A name with the prefix word has the distance 0.
func Suggest(word string, names []string) []string {
	best := farthest
	var near []string
	for _, name := range names {
		d := Distance(word, name)
		if len(word) > 1 && len(name) >= len(word) && name[:len(word)] == word {
			d = 0
		}
		edits, longer := distance(word, name, costs{1, 1, 1, 1}), max(len(word), len(name))
		if d > 0 && edits > max(1, longer/3) && 3*Common(word, name) < 2*max(len(word), 4) {
			continue
		}
		switch {
		case d < best:
			best, near = d, []string{name}
		case d == best && d < farthest:
			near = append(near, name)
		}
	}
	slices.Sort(near)
	return slices.Compact(near)
}

// Distance is the weighted Damerau-Levenshtein distance from a to b, counted in runes: what it costs to
// turn a into b by swapping neighbours, substituting, inserting and deleting.
func Distance(a, b string) int {
	return distance(a, b, costs{SwapCost, SubstituteCost, InsertCost, DeleteCost})
}

func distance(a, b string, c costs) int {
	from, to := []rune(a), []rune(b)
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j * c.insert
	}
	for i := range from {
		row[0] = (i + 1) * c.del
		for j := range to {
			cost := last[j]
			if from[i] != to[j] {
				cost += c.substitute
			}
			if i > 0 && j > 0 && from[i-1] == to[j] && from[i] == to[j-1] && from[i] != to[j] {
				cost = min(cost, before[j-1]+c.swap)
			}
			row[j+1] = min(cost, last[j+1]+c.del, row[j]+c.insert)
		}
		before, last, row = last, row, before
	}
	return last[len(to)]
}

// Common returns the length in bytes of the common prefix of a and b.
func Common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
