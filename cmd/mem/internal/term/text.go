package term

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/tokens"
)

// Count returns a number of things: "1 object", "2,000 objects".
func Count(n int, what string) string { return tokens.Commas(n) + " " + what + Plural(n) }

// Sessions returns the number of sessions and of those of subagents: "2 sessions", "2 sessions and 1 of subagents".
func Sessions(n, subagents int) string {
	text := Count(n, "session")
	if subagents > 0 {
		text += " and " + tokens.Commas(subagents) + " of subagents"
	}
	return text
}

// Branches returns a number of branches: "1 branch", "2 branches".
func Branches(n int) string {
	if n == 1 {
		return "1 branch"
	}
	return tokens.Commas(n) + " branches"
}

// Some writes the first names of a list, and how many others there are: "a, b and 3 more".
func Some(names []string, most int) string {
	if n := len(names) - most; n > 0 {
		return strings.Join(names[:most], ", ") + " and " + tokens.Commas(n) + " more"
	}
	return strings.Join(names, ", ")
}

// Plural returns "s" unless n is 1.
func Plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Hundredths returns n hundredths as a decimal: "0.65".
func Hundredths(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

// ShortID returns the start of a session's id, for people.
func ShortID(id string) string { return records.ShortID(id) }

// Ranges returns ranges of messages: "#12", "#12-18 #77". Of more than seven it returns the first six and the last.
func Ranges(messages [][2]int) string {
	const most = 6
	var words []string
	for i, r := range messages {
		if i == most {
			words = append(words, "…")
			r = messages[len(messages)-1]
		}
		if r[0] == r[1] {
			words = append(words, fmt.Sprintf("#%d", r[0]))
		} else {
			words = append(words, fmt.Sprintf("#%d-%d", r[0], r[1]))
		}
		if i == most {
			break
		}
	}
	return strings.Join(words, " ")
}
