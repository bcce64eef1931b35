// Package tokens estimates how many tokens a text costs a model.
//
// There is no official offline tokenizer for current models, so a count is the number of o200k tokens times a factor
// that was fitted to the counts in real transcripts: 1.13 for models up to 4.6, 1.60 for later ones. Print counts
// with a "~". A budget kept by a [Counter] is kept exactly in that counter's own measure, always rounded up.
//
// The text is split into pieces, and new pieces are merged by byte-pair encoding with the vocabulary of o200k_base,
// which is read in place inside the program: nothing is loaded before the first count. Recipes depend on the counts of
// the library tiktoken-go/tokenizer for each piece, and tests compare with it. Long runs of one kind of character are
// split, so a count of any text takes about linear time.
package tokens

import (
	"fmt"
	"strconv"
	"strings"
)

// The factors, in hundredths.
const (
	factorOld = 113
	factorNew = 160
)

// Counter counts the tokens of one family of models. It is a small immutable value, safe for concurrent use. The zero
// value counts plain o200k tokens.
type Counter struct {
	factor int // hundredths; 0 means 100
}

// For returns the counter of a model: factor 1.13 for Claude models up to 4.6, 1.60 for every other name, also the
// empty one, because a text counted too high still fits the budget.
func For(model string) Counter {
	if older(model) {
		return Counter{factorOld}
	}
	return Counter{factorNew}
}

// older reports whether model is a Claude of version 4.6 or earlier.
func older(model string) bool {
	claude := false
	var version []int
	for _, p := range strings.FieldsFunc(strings.ToLower(model), func(r rune) bool {
		return strings.ContainsRune("-._:/@[] ", r)
	}) {
		n, err := strconv.Atoi(p)
		switch {
		case err == nil && len(p) <= 2 && len(version) < 2:
			version = append(version, n)
		case p == "claude" || p == "opus" || p == "sonnet" || p == "haiku" || p == "instant":
			claude = true
		case p == "fable" || p == "mythos":
			return false
		case len(version) > 0:
			version = append(version, 0)[:2] // a word or a date ends the version
		}
	}
	version = append(version, 0, 0)
	return claude && version[0] > 0 && version[0]*100+version[1] <= 406
}

func (c Counter) hundredths() int {
	if c.factor == 0 {
		return 100
	}
	return c.factor
}

// ID identifies the counter in recipes: "o200k*1.13/1". Equal IDs give equal counts.
func (c Counter) ID() string {
	h := c.hundredths()
	return fmt.Sprintf("o200k*%d.%02d/1", h/100, h%100)
}

// ByID returns the counter with that ID.
func ByID(id string) (Counter, error) {
	for _, c := range []Counter{{factorOld}, {factorNew}, {}} {
		if c.ID() == id {
			return c, nil
		}
	}
	return Counter{}, fmt.Errorf("token counter %q is unknown to this version of mem", id)
}

// Count returns the tokens of s, rounded up. Count(a+b) is at most Count(a) + Count(b) plus a few at the seam.
func (c Counter) Count(s string) int { return c.Scale(Raw(s)) }

// Scale converts plain o200k tokens ([Raw]) to this counter's tokens. For a growing text, add raw counts and scale
// once, so that only one token is lost to rounding.
func (c Counter) Scale(raw int) int { return (raw*c.hundredths() + 99) / 100 }

// Unscale is the largest raw count that scales to at most n.
func (c Counter) Unscale(n int) int { return n * 100 / c.hundredths() }

// Estimate estimates the tokens of a text from its length in bytes.
func (c Counter) Estimate(bytes int64) int { return int((bytes*int64(c.hundredths()) + 399) / 400) }

// Format formats a count briefly: "512", "3.0k", "100.2k", "1.2M".
func Format(n int) string {
	sign, size := "", uint64(n)
	if n < 0 {
		sign, size = "-", -size
	}
	unit, tenth := "M", uint64(100_000)
	switch {
	case size < 1000:
		return strconv.Itoa(n)
	case size < 999_950:
		unit, tenth = "k", 100
	}
	size = (size + tenth/2) / tenth
	return fmt.Sprintf("%s%d.%d%s", sign, size/10, size%10, unit)
}

// Commas formats a count in full: "100,234".
func Commas(n int) string {
	digits, negative := strings.CutPrefix(strconv.Itoa(n), "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}
