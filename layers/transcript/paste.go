package transcript

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

const (
	longAsk    = 600  // bytes of a paragraph that asks for something
	longReview = 4000 // bytes up to which a text can read like a pasted one
)

// A LineKind is the part that a line has in a message of the user. A message often has a request and a paste: a log, code, or
// the output of a command. A paste is full of names and numbers, so by its concepts alone it displaces the request.
type LineKind uint8

const (
	RequestLine LineKind = iota
	Pasted               // of a log, of code or of output
)

// few is the least number of lines of a paste: one or two may be an example that somebody typed, unless all that looks
// pasted has longPaste bytes.
const few, longPaste = 3, 600

// LineKinds returns the kind of each line of a message of the user, nil if all lines are requests.
func LineKinds(text string) []LineKind {
	lines := strings.Split(text, "\n")
	kinds := make([]LineKind, len(lines))
	markFenced(lines, kinds)
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && strings.TrimSpace(lines[to]) != "" {
			to++
		}
		markPaste(lines[from:to], kinds[from:to])
		from = to
	}
	size := 0
	for i, s := range lines {
		if kinds[i] == Pasted {
			size += len(s) + 1
		}
	}
	var rest []string
	for from := 0; from < len(lines); {
		to, pasted := from, 0
		for to < len(lines) && (kinds[to] == Pasted || pasted > 0 && strings.TrimSpace(lines[to]) == "") {
			if kinds[to] == Pasted {
				pasted++
			}
			to++
		}
		if pasted == 0 || pasted < few && size < longPaste {
			to = max(to, from+1)
			clear(kinds[from:to])
			rest = append(rest, lines[from:to]...)
		}
		from = to
	}
	switch {
	case document(rest):
		markDocument(lines, kinds)
	case len(rest) == len(lines):
		return nil
	default:
		markScattered(lines, kinds)
	}
	return kinds
}

// longDocument and manyLines are the size in bytes and the lines of a text that nobody types without a word of himself.
const longDocument, manyLines = 6000, 100

// document reports whether lines are so long, and so seldom speak of their author, that most of them were pasted.
func document(lines []string) bool {
	text := strings.Join(lines, "\n")
	return len(text) >= longDocument && len(lines) > manyLines && len(author().FindAllStringIndex(text, -1)) < len(text)/1500
}

// markScattered marks the lines between those that a program wrote if these are most of a long text and none of the
// others asks for something: they are of the same paste.
func markScattered(lines []string, kinds []LineKind) {
	const long = 30
	from, to := slices.Index(kinds, Pasted), len(kinds)
	for to > 0 && kinds[to-1] != Pasted {
		to--
	}
	pasted, rest := 0, 0
	for i := max(0, from); i < to; i++ {
		switch s := strings.TrimSpace(lines[i]); {
		case kinds[i] == Pasted:
			pasted++
		case author().MatchString(s), strings.HasSuffix(s, "?"):
			return
		case s != "":
			rest++
		}
	}
	for i := from; pasted > rest && pasted+rest > long && i < to; i++ {
		kinds[i] = Pasted
	}
}

// author matches the words of somebody who speaks of himself.
var author = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(I|I'm|I'd|I've|I'll|[Pp]lease|[Ll]et's)\b`) })

// markDocument marks all lines but the first and the last paragraph, if these ask for something, or else the first line:
// a document is pasted behind or before its request.
func markDocument(lines []string, kinds []LineKind) {
	for i := range kinds {
		kinds[i] = Pasted
	}
	blank := func(i int) bool { return strings.TrimSpace(lines[i]) == "" }
	asks := func(from, to int) bool {
		text := strings.Join(lines[from:to], "\n")
		return len(text) < longAsk && (asking().MatchString(text) || orders().MatchString(text) || strings.HasSuffix(text, ":"))
	}
	from, to := 0, len(lines)
	for from < to && blank(from) {
		from++
	}
	for to > from && blank(to-1) {
		to--
	}
	first, last := from, to
	for first < to && !blank(first) {
		first++
	}
	for last > first && !blank(last-1) {
		last--
	}
	ends := last > first && asks(last, to)
	if ends {
		clear(kinds[last:to])
	}
	switch {
	case asks(from, first):
		clear(kinds[from:first])
	case !ends: // it says what was sent
		kinds[from] = RequestLine
	}
}

// logged matches the beginning of a line of a log: a date with a time, or a time with seconds.
var logged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*[\[(]?(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d)`)
})

// shortReview is the size in bytes from which on a text can read like a pasted one.
const shortReview = 200

// ReviewStart returns the line from which on a message reads like the text of somebody else, such as the finding of a
// review: several sentences about code without a word of somebody who asks for something. It returns -1 if there is
// none. A line that ends with a colon may lead in to it.
func ReviewStart(text string) int {
	if len(text) > longReview {
		return -1
	}
	from, rest := 0, text
	if head, tail, found := strings.Cut(text, "\n"); found && len(head) < 120 && strings.HasSuffix(strings.TrimSpace(head), ":") {
		from, rest = 1, tail
		for from < 4 && strings.HasPrefix(rest, "\n") {
			from, rest = from+1, rest[1:]
		}
	}
	if len(rest) < shortReview || !aboutCode().MatchString(rest) || asking().MatchString(rest) || orders().MatchString(rest) ||
		strings.Count(rest, ". ")+strings.Count(rest, ".\n")+strings.Count(rest, "\n\n") == 0 {
		return -1
	}
	return from
}

var (
	// asking matches the words of somebody who speaks to the assistant.
	asking = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(\b(I|I'm|I'd|I've|I'll|we|we're|we've|let's|lets|you|your|please|pls|my|me|us|our|hmm|okay)\b|\?)`)
	})
	// orders matches a request at the beginning.
	orders = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\W*(update|add|fix|make|change|remove|delete|create|write|implement|use|move|rename|replace|refactor|do|run|check|look|read|review|show|explain|how|what|why|can|could|should|again|and|but|so|also|now|then|there|have|try|test|find|go)\b`)
	})
	// aboutCode matches what is written like code, and the grades of findings.
	aboutCode = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("`[^`]+`" + `|[a-z][a-z0-9]+[A-Z][A-Za-z]+|\b\w+_\w+\b|\b[\w/-]+\.(go|ts|tsx|py|js|rs|md|sh|json|java|rb|c|cpp)\b|\b(High|Medium|Low|Critical) Severity\b`)
	})
)

// markFenced marks the lines of code fences, unless one is never closed: it would contain the rest of the message.
func markFenced(lines []string, kinds []LineKind) {
	fenced := false
	for i, s := range lines {
		mark := IsFence(strings.TrimSpace(s))
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
func markPaste(lines []string, kinds []LineKind) {
	first, last, written := -1, -1, 0
	for i, s := range lines {
		if kinds[i] == Pasted || !writtenByProgram(s) && !logged().MatchString(s) {
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

// IsFence reports whether a text's first line begins or ends a block of code. ```a``` is code within a line.
func IsFence(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(line, "```") && !strings.Contains(strings.TrimLeft(line, "`"), "`") || strings.HasPrefix(line, "~~~")
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}
