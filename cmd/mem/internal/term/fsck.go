package term

import (
	"github.com/memvcs/mem/layers/tokens"
)

// Count writes a number of things: "1 object", "2,000 objects".
func Count(n int, what string) string { return tokens.Commas(n) + " " + what + Plural(n) }
