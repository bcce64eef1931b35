package main

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// leastHelp is the least width to which the last column of a help page is wrapped.
const leastHelp = 24

// fitHelp wraps the paragraphs and the last columns of a help page that are wider than a terminal. Examples stay.
func fitHelp(page string, width int) string {
	var b strings.Builder
	lines := strings.Split(page, "\n")
	for len(lines) > 0 {
		indent, n := hanging(lines[0]), 1
		for n < len(lines) && lines[0] != "" && strings.TrimSpace(lines[n]) != "" && indentOf(lines[n]) == indent {
			n++
		}
		block := lines[:n]
		lines = lines[n:]
		if !slices.ContainsFunc(block, func(l string) bool { return displaywidth.String(l) > width }) ||
			strings.Contains(block[0], "  # ") || indent > width-leastHelp {
			b.WriteString(strings.Join(block, "\n") + "\n")
			continue
		}
		line := block[0][:indent]
		var words []string
		for _, l := range block {
			words = append(words, strings.Fields(l[indent:])...)
		}
		for i, word := range words {
			switch {
			case i > 0 && displaywidth.String(line)+1+displaywidth.String(word) > width:
				b.WriteString(line + "\n")
				line = strings.Repeat(" ", indent) + word
			case i > 0:
				line += " " + word
			default:
				line += word
			}
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// hanging returns the indent in bytes of the lines that continue line: where its last column starts.
func hanging(line string) int {
	indent := indentOf(line)
	if i := strings.LastIndex(line[indent:], "  "); i >= 0 {
		return indent + i + 2
	}
	return indent
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
