package refine

import (
	"path"
	"slices"
	"strings"
)

const (
	maxDefined = 8    // symbols that an edit defines or stands in
	maxNamed   = 6    // identifiers that it newly names
	maxRead    = 5000 // lines of either
)

// symbols returns what the changed lines define, the definitions among the lines around them, and identifiers of
// two words or more that the new lines name and the old ones do not. Prose has none.
func symbols(d *differ, file string) []string {
	if prose[strings.ToLower(path.Ext(file))] {
		return nil
	}
	lines, context := d.lines[:min(len(d.lines), maxRead)], d.context[:min(len(d.context), maxRead)]
	var found []string
	for _, l := range lines {
		if name := defined(l[1:]); name != "" && l != "@@" {
			found = appendNew(found, name, maxDefined)
		}
	}
	for _, l := range context {
		if name := defined(l); name != "" {
			found = appendNew(found, name, maxDefined)
		}
	}
	old := map[string]bool{}
	for _, l := range lines {
		if l[0] == '-' {
			identifiers(l[1:], func(s string) { old[s] = true })
		}
	}
	for _, l := range context {
		identifiers(l, func(s string) { old[s] = true })
	}
	limit := len(found) + maxNamed
	for _, l := range lines {
		if l[0] == '+' && len(found) < limit {
			identifiers(l[1:], func(s string) {
				if !old[s] {
					found = appendNew(found, s, limit)
				}
			})
		}
	}
	return found
}

var prose = map[string]bool{".md": true, ".txt": true, ".json": true, ".jsonl": true, ".lock": true, ".csv": true,
	".svg": true}

// definers are the words that a definition starts with.
var definers = []string{
	"func", "type", "class", "def", "function", "interface", "struct", "enum", "fn", "trait", "impl", "module", "const",
	"var", "let", "describe", "it", "test",
}

// modifiers may stand before them.
var modifiers = []string{
	"export", "default", "async", "public", "private", "protected", "static", "abstract", "final", "pub",
	"override", "declare",
}

// defined returns the name that a line of code defines, or "".
func defined(line string) string {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	rest := line[indent:]
	word, rest := nextWord(rest)
	for slices.Contains(modifiers, word) {
		word, rest = nextWord(rest)
	}
	i := slices.Index(definers, word)
	if i < 0 {
		return ""
	}
	if strings.HasPrefix(definers[i], "func") && strings.HasPrefix(rest, "(") { // a method: the receiver comes first
		_, after, ok := strings.Cut(rest, ") ")
		if !ok {
			return ""
		}
		rest = after
	}
	switch word {
	case "const", "var", "let":
		if indent > 0 {
			return "" // a local one
		}
	case "describe", "it", "test":
		return ""
	}
	name, _ := nextWord(rest)
	if len(name) < 3 {
		return ""
	}
	return name
}

// nextWord splits s behind the identifier at its start and the space behind that.
func nextWord(s string) (word, rest string) {
	i := 0
	for i < len(s) && isWord(s[i]) {
		i++
	}
	return s[:i], strings.TrimLeft(s[i:], " *")
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// identifiers calls fn with the words of line that are written like a symbol: camelCase or snake_case.
func identifiers(line string, fn func(string)) {
	for i := 0; i < len(line); {
		if !isWord(line[i]) {
			i++
			continue
		}
		j := i
		for j < len(line) && isWord(line[j]) {
			j++
		}
		if w := line[i:j]; len(w) >= 4 && len(w) <= 60 && isSymbol(w) {
			fn(w)
		}
		i = j
	}
}

func isSymbol(w string) bool {
	if w[0] >= '0' && w[0] <= '9' {
		return false
	}
	for i := 1; i < len(w); i++ {
		upper := w[i] >= 'A' && w[i] <= 'Z'
		lower := w[i-1] >= 'a' && w[i-1] <= 'z'
		if upper && lower || w[i] == '_' && i < len(w)-1 {
			return true
		}
		if w[i] >= 0x80 {
			return false
		}
	}
	return false
}
