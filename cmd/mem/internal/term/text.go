package term

import (
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/tokens"
)

// Count returns a number of things: "1 object", "2,000 objects".
func Count(n int, what string) string { return tokens.Commas(n) + " " + what + Plural(n) }

// Plural returns "s" unless n is 1.
func Plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// ShortID returns the start of a session's id, for people.
func ShortID(id string) string { return records.ShortID(id) }

// FirstWords returns the start of s in one line of at most n characters.
func FirstWords(s string, n int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
