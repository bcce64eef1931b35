// Package paste finds pasted text in a message of the user.
//
// A message often has a request and a paste: a log, code, or the output of a command. A paste is full of names and
// numbers, so by its concepts alone it displaces the request.
package paste

import (
	"strings"
	"unicode"
)

const (
	longPaste = 600  // bytes; shorter pastes are treated as part of the request
	longPage  = 4000 // bytes; in a longer text only the beginning and the end count as the request
	pageEdge  = 600  // bytes of that beginning and of that end
)

// A Kind is the part that a line has in a message of the user.
type Kind uint8

const (
	Request Kind = iota
	Page         // in the middle of a very long text
	Pasted       // of a log, of code or of output
)

// Kinds returns the kind of each line of a message of the user. It returns nil if all lines are requests.
func Kinds(text string) []Kind {
	if len(text) < longPaste {
		return nil
	}
	lines := strings.Split(text, "\n")
	kinds, size := make([]Kind, len(lines)), 0
	markFenced(lines, kinds)
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && strings.TrimSpace(lines[to]) != "" {
			to++
		}
		markPaste(lines[from:to], kinds[from:to])
		from = to
	}
	for i, s := range lines {
		if kinds[i] == Pasted {
			size += len(s) + 1
		}
	}
	if size < longPaste {
		clear(kinds)
		size = 0
	}
	if said := len(text) - size; said > longPage {
		markPage(lines, kinds, said)
	}
	return kinds
}

// markFenced marks the lines of code fences, unless one is never closed: it would contain the rest of the message.
func markFenced(lines []string, kinds []Kind) {
	fenced := false
	for i, s := range lines {
		mark := Fence(strings.TrimSpace(s))
		if fenced || mark {
			kinds[i] = Pasted
		}
		fenced = fenced != mark
	}
	if fenced {
		clear(kinds)
	}
}

// markPaste marks the lines of a paragraph that a program wrote. If these are most of the lines from the first to the
// last of them, it marks all of those.
func markPaste(lines []string, kinds []Kind) {
	first, last, written := -1, -1, 0
	for i, s := range lines {
		if kinds[i] == Pasted || !writtenByProgram(s) {
			continue
		}
		kinds[i] = Pasted
		if last = i; first < 0 {
			first = i
		}
		written++
	}
	if first >= 0 && 2*written > last-first {
		for i := first; i <= last; i++ {
			kinds[i] = Pasted
		}
	}
}

// planEnd begins the last paragraph of a plan that the client turns into a message.
const planEnd = "If you need specific details from before exiting plan mode"

// markPage marks the lines of a very long text that are neither at its beginning nor at its end.
func markPage(lines []string, kinds []Kind, said int) {
	at := 0
	for i, s := range lines {
		if kinds[i] == Pasted {
			continue
		}
		if at >= pageEdge && at < said-pageEdge || strings.HasPrefix(s, planEnd) {
			kinds[i] = Page
		}
		at += len(s) + 1
	}
}

// writtenByProgram reports whether a line looks like code or like the output of a program: it is indented, it begins or
// ends with a sign of code, or many of its characters are digits and signs and many of its words are not of letters.
func writtenByProgram(line string) bool {
	s := strings.TrimSpace(line)
	if s == "" || listItem(s) || strings.HasPrefix(s, "[Image") {
		return false
	}
	if line[0] == '\t' || strings.HasPrefix(line, "    ") || strings.HasPrefix(s, "//") ||
		strings.ContainsRune("{}<>|$+=[❯│├└", firstRune(s)) || strings.ContainsRune("{};=|\\", rune(s[len(s)-1])) {
		return true
	}
	const short = 24 // bytes; "see #123" is a request
	if len(s) < short {
		return false
	}
	letters, signs, words, plain := 0, 0, 0, 0
	for w := range strings.FieldsSeq(s) {
		n := 0
		for _, r := range strings.Trim(w, punctuation) {
			if unicode.IsLetter(r) {
				letters++
			} else if !strings.ContainsRune(punctuation, r) {
				n++
			}
		}
		signs += n
		if words++; n == 0 {
			plain++
		}
	}
	return 5*signs > letters && 3*plain < 2*words
}

// punctuation are the signs in prose.
const punctuation = ".,:;!?'\"`()-"

// listItem reports whether a line is an item of a list.
func listItem(s string) bool {
	if strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "#") {
		return true
	}
	rest := strings.TrimLeft(s, "0123456789")
	return len(rest) < len(s) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// Fence reports whether a line begins or ends a block of code.
func Fence(line string) bool { return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") }

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}
