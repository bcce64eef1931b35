package engines

import (
	"fmt"
	"strconv"
	"strings"
)

// A Price is the cost of a million tokens in millionths of a dollar.
type Price struct {
	Input, Output int64
}

// Cost returns the cost in millionths of a dollar, rounded up.
func (p Price) Cost(input, output int) int64 {
	return (int64(input)*p.Input + int64(output)*p.Output + 999_999) / 1_000_000
}

// ParsePrice parses dollars per million input and output tokens: "3/15", "0.10/0.50".
func ParsePrice(s string) (Price, error) {
	in, out, ok := strings.Cut(s, "/")
	a, errIn := ParseDollars(in)
	b, errOut := ParseDollars(out)
	if !ok || errIn != nil || errOut != nil {
		return Price{}, fmt.Errorf("price %q: want dollars per million tokens in and out, such as 3/15", s)
	}
	return Price{a, b}, nil
}

// ParseDollars parses an amount with at most six decimals and returns millionths of a dollar.
func ParseDollars(s string) (int64, error) {
	bad := fmt.Errorf("%q is not an amount of dollars such as 5 or 0.50", s)
	whole, frac, dot := strings.Cut(strings.TrimSpace(s), ".")
	if whole == "" || dot && frac == "" || len(frac) > 6 || len(whole) > 7 ||
		strings.Trim(whole+frac, "0123456789") != "" {
		return 0, bad
	}
	n, err := strconv.ParseInt(whole+(frac + "000000")[:6], 10, 64)
	if err != nil {
		return 0, bad
	}
	return n, nil
}

// FormatDollars formats an amount: "$0.0213", "$12.50".
func FormatDollars(micros int64) string {
	if micros < 0 {
		return "-" + FormatDollars(-micros)
	}
	return DollarColumn(micros)(micros)
}

// DollarColumn returns the format of the amounts of a column, of which total is the sum. They have the same number of
// decimals, so that they can be compared: those that [FormatDollars] gives the total. What rounds to nothing is "<$0.01".
func DollarColumn(total int64) func(micros int64) string {
	if total > 0 && total < 1_000_000 {
		return func(micros int64) string {
			n := (micros + 50) / 100
			if n == 0 && micros > 0 {
				return "<$0.0001"
			}
			return fmt.Sprintf("$%d.%04d", n/10_000, n%10_000)
		}
	}
	return func(micros int64) string {
		n := (micros + 5_000) / 10_000
		if n == 0 && micros > 0 {
			return "<$0.01"
		}
		return fmt.Sprintf("$%d.%02d", n/100, n%100)
	}
}

// decimal formats an amount exactly, without a currency sign.
func decimal(micros int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000), "0"), ".")
}

// prices of Claude models in dollars per million tokens, as published in October 2026; the first row whose words all
// occur in the name counts. Haiku 5.5 has the higher price of long prompts.
var prices = [...]struct {
	words   string
	in, out int64 // millionths of a dollar
}{
	{"fable", 10e6, 50e6},
	{"mythos", 10e6, 50e6},
	{"opus 5 5", 4e6, 20e6},
	{"opus 5", 5e6, 25e6},
	{"opus 4 5", 5e6, 25e6},
	{"opus 4 6", 5e6, 25e6},
	{"opus 4 7", 5e6, 25e6},
	{"opus 4 8", 5e6, 25e6},
	{"opus", 15e6, 75e6},
	{"sonnet 5", 2e6, 10e6},
	{"sonnet", 3e6, 15e6},
	{"haiku 5 5", 0.5e6, 2.5e6},
	{"3 haiku", 0.25e6, 1.25e6},
	{"3 5 haiku", 0.8e6, 4e6},
	{"haiku", 1e6, 5e6},
}

// PriceOf returns the price of a Claude model. An alias such as "opus" has the highest price of all models it has
// named, and an unknown name the highest price of all, so that a cap is reached too early rather than too late.
func PriceOf(model string) Price {
	name := modelWords(model)
	for _, p := range prices {
		if strings.Contains(name, " "+p.words+" ") {
			return Price{p.in, p.out}
		}
	}
	return Price{15e6, 75e6}
}

// modelWords returns the words of the name of a model, each between spaces.
func modelWords(model string) string {
	words := strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return strings.ContainsRune("-._:/@[] ", r) })
	return " " + strings.Join(words, " ") + " "
}

// PricesDate is when the prices of [ListPrice] were published.
const PricesDate = "October 2026"

// ListPrice returns the price of the exact model that a transcript names; ok is false if it is unknown here.
func ListPrice(model string) (p Price, ok bool) {
	name := modelWords(model)
	if !strings.Contains(name, " claude ") {
		return Price{}, false
	}
	for _, p := range prices {
		versioned := strings.ContainsAny(p.words, "0123456789") || p.words == "fable" || p.words == "mythos" ||
			strings.Contains(name, " 3 ") || strings.Contains(name, " 4 ") // the generations that the general rows are for
		if versioned && strings.Contains(name, " "+p.words+" ") {
			return Price{p.in, p.out}, true
		}
	}
	return Price{}, false
}
