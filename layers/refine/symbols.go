package refine

import (
	"path"
	"slices"
	"strings"
)

const (
	maxDefined = 8    // symbols that an edit defines or changes
	maxNamed   = 6    // new identifiers
	maxRead    = 5000 // lines read
)

// symbols returns the symbols that the changed lines define, the definitions in the lines around them, and
// identifiers of two words or more that are new in the changed lines. Prose has none.
func symbols(d *differ, file string) []string {
	if prose[strings.ToLower(path.Ext(file))] {
		return nil
	}
	lines, context := d.lines[:min(len(d.lines), maxRead)], d.context[:min(len(d.context), maxRead)]
	var found []string
	for _, l := range lines {
		if name := defined(l[1:]); name != "" {
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

// definers are the keywords of definitions.
var definers = []string{
	"func", "type", "class", "def", "function", "interface", "struct", "enum", "fn", "trait", "impl", "module", "const",
	"var", "let", "describe", "it", "test",
}

// modifiers may precede them.
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
	if strings.HasPrefix(definers[i], "func") && strings.HasPrefix(rest, "(") { // skip the receiver of a method
		_, after, ok := strings.Cut(rest, ") ")
		if !ok {
			return ""
		}
		rest = after
	}
	switch word {
	case "const", "var", "let":
		if indent > 0 {
			return "" // a local definition
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

// nextWord splits off the identifier at the start of s and the space after it.
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

// identifiers calls fn with the words of line in camelCase or snake_case.
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
