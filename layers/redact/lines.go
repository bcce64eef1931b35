package redact

import (
	"bytes"
)

// marginOf returns the prefix that a tool put before the last line of text: the sign of a diff, a quotation mark, a
// time, or a file name. For a number at its end only the length matters.
func marginOf(text []byte, newline string) string {
	if n := bytes.LastIndex(text, []byte(newline)); n >= 0 {
		text = text[n+len(newline):]
	}
	if string(text) == "-" {
		return "-" // of a diff
	}
	text = bytes.TrimRight(text, " ")
	if string(text) == "-" || len(text) > 64 || bytes.HasSuffix(text, []byte("→")) ||
		bytes.HasSuffix(text, []byte("\t")) || bytes.HasSuffix(text, []byte(`"`)) {
		return "" // an item of a list, a listing, the beginning of a string
	}
	if n := len(text); n > 1 && text[n-1] != '+' && text[n-1] != ':' || string(text) == ">" {
		return string(text) + " "
	}
	return string(text)
}

// lineNumberLen returns the length of the line number at the start of line, as cat -n prints it.
func lineNumberLen(line []byte) int {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	n := Digits.Run(line[i:], 8)
	if n == 0 {
		return 0
	}
	for _, mark := range [...]string{"→", "\t"} {
		if bytes.HasPrefix(line[i+n:], []byte(mark)) {
			return i + n + len(mark)
		}
	}
	return 0
}

// colour returns the length of the terminal colour sequences at the start of text, either raw or escaped as in JSON.
func colour(text []byte) int {
	n := 0
	for {
		i := n
		switch rest := text[n:]; {
		case len(rest) > 1 && rest[0] == 0x1b && rest[1] == '[':
			i += 2
		case hasFold(rest, `\u001b[`):
			i += len(`\u001b[`)
		default:
			return n
		}
		for i < len(text) && i < n+24 && (text[i] == ';' || '0' <= text[i] && text[i] <= '9') {
			i++
		}
		if i == len(text) || text[i] != 'm' && text[i] != 'K' {
			return n
		}
		n = i + 1
	}
}

// skipColour returns the start of the name that was found at start, after the end of a colour sequence that ends
// inside it.
func skipColour(text []byte, start int) int {
	if start < 2 || text[start-1] != '[' && text[start-1] != ';' {
		return start
	}
	for i := start - 1; i > 0 && i > start-24; i-- {
		if text[i] != '[' {
			continue
		}
		for _, mark := range [...]string{"\x1b", `\u001b`, `\u001B`} {
			if bytes.HasSuffix(text[:i], []byte(mark)) {
				if n := colour(text[i-len(mark):]); i-len(mark)+n > start {
					return i - len(mark) + n
				}
			}
		}
	}
	return start
}

// trimColour returns text without the colour sequences at its end.
func trimColour(text []byte) []byte {
	for len(text) > 2 && (text[len(text)-1] == 'm' || text[len(text)-1] == 'K') {
		i := bytes.LastIndexByte(text[max(0, len(text)-24):], '[')
		if i < 0 {
			return text
		}
		i += max(0, len(text)-24)
		switch {
		case i > 0 && text[i-1] == 0x1b:
			i--
		case i >= 6 && hasFold(text[i-6:], `\u001b`):
			i -= 6
		default:
			return text
		}
		if colour(text[i:]) != len(text)-i {
			return text
		}
		text = text[:i]
	}
	return text
}

// closers are the characters that may stand between a name and the operator after it.
var closers = setOf("\"'\\`]?*")

// skipClosers skips the characters that close the name ending at end. It returns the offset after them, how many
// bytes of them are colour sequences, and whether there were any others.
func skipClosers(text []byte, end int) (i, painted int, closed bool) {
	i = end
	for {
		c := colour(text[i:])
		n := 0
		for i+c+n < len(text) && i+n-end-painted < 6 && closers.Has(text[i+c+n]) && colour(text[i+c+n:]) == 0 &&
			Newline(text[i+c+n:]) == 0 {
			n++
		}
		if n+c == 0 {
			return i, painted, i-painted > end
		}
		i, painted = i+n+c, painted+c
	}
}

// skipDecoration returns the offset of the value after i: it skips blanks, colours, Markdown bold, and YAML anchors and
// tags.
func skipDecoration(text []byte, i int) int {
	i += spaces(text[i:])
	if n := colour(text[i:]); n > 0 {
		i += n
		i += spaces(text[i:])
	}
	if bytes.HasPrefix(text[i:], []byte("**")) {
		i += 2
		i += spaces(text[i:])
	}
	if i < len(text) && text[i] == '&' || bytes.HasPrefix(text[i:], []byte("!!")) {
		n := 1 + nameChars.Run(text[i+1:], 64)
		if text[i] == '!' {
			n = 2 + nameChars.Run(text[i+2:], 64)
		}
		if blanks := spaces(text[i+n:]); n > 1 && blanks > 0 {
			i += n + blanks
		}
	}
	return i
}

// Newline returns the length of the line end at the start of text, which may be escaped as in a nested string.
func Newline(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("\r\n")), bytes.HasPrefix(text, []byte(`\n`)):
		return 2
	case len(text) > 0 && text[0] == '\n':
		return 1
	}
	return 0
}

// lineStart returns the offset of the first word of the line at i, after a line number or the sign of a diff.
func lineStart(text []byte, i int) int {
	rest := text[i:min(len(text), i+64)]
	n := lineNumberLen(rest)
	if n == 0 && len(rest) > 0 && (rest[0] == '+' || rest[0] == '-') {
		n = 1
	}
	return i + n + spaces(text[i+n:])
}

// opensCell reports whether text ends at the start of a table cell.
func opensCell(text []byte) bool {
	text = bytes.TrimRight(text[max(0, len(text)-32):], " `*\"'")
	return bytes.HasSuffix(text, []byte("|")) || bytes.HasSuffix(text, []byte("│"))
}

// pluralKind returns the kind of the secrets in a list of this name, "" for none.
func pluralKind(name []byte) string {
	if n := len(name); n > 4 && lower[name[n-1]] == 's' {
		return secretName(name[:n-1])
	}
	return ""
}

// strong reports whether value mixes characters so much that it must be generated.
func strong(value []byte) bool {
	t := traitsOf(value)
	return t.Digits > 1 && t.Lower > 1 && (t.Upper > 1 || t.Digits > 3 && t.Lower > 3 && len(value) >= 20) && Random(value)
}

// nameChars are the characters of the name in name = value.
var nameChars = dottedChars

// maxValue is the number of bytes that are searched for the end of a value.
const maxValue = 4 << 10

// leading are characters that a password in a sentence may begin with, and that otherwise precede a value.
var leading = setOf(":=<>?!|;,{")

// headerEnd returns the length of the value of a quoted HTTP header, which ends before the quote that closes it; 0 if
// before does not end with the quote of a header option or of a JSON string.
func headerEnd(before, value []byte) int {
	if len(before) < 4 || !Quote(before[len(before)-1]) {
		return 0
	}
	option := bytes.TrimRight(before[:len(before)-1], " \\=")
	if !bytes.HasSuffix(option, []byte("-H")) && !bytes.HasSuffix(option, []byte("--header")) &&
		!bytes.HasSuffix(option, []byte(`":`)) {
		return 0
	}
	n := bytes.IndexByte(value, before[len(before)-1])
	if n > 0 && value[n-1] == '\\' {
		n--
	}
	return n
}

// trimPunctuation returns the bounds of text[start:end] without the punctuation at its end.
func trimPunctuation(text []byte, start, end int) Span {
	for end > start && (text[end-1] == ',' || text[end-1] == ';') &&
		(end-start < 2 || traitsOf(text[start:end-1]).Strange == 0 || bytes.IndexByte([]byte("\"'`)]}"), text[end-2]) >= 0) {
		end--
	}
	return Span{Start: start, End: end}
}

var (
	// visibleLine are the characters of a value alone on its line.
	visibleLine = inWord
	// unquotedChars are the characters of an unquoted value that other text follows.
	unquotedChars = Visible.Without(`,;()[]{}|&\`)
)

// spaces returns the number of blanks at the start of text, at most 16.
func spaces(text []byte) int {
	n := 0
	for n < len(text) && n < 16 && (text[n] == ' ' || text[n] == '\t') {
		n++
	}
	return n
}

// opensLine reports whether the first word of a line may start at the end of text. In decoded text (deep) a parameter
// of a query may also start there.
func opensLine(text []byte, deep bool) bool {
	i := len(text)
	for i > 0 && i > len(text)-48 && leadsLine(text[i-1]) {
		i--
	}
	if i == 0 || text[i-1] == '\n' || i >= 2 && text[i-2] == '\\' && text[i-1] == 'n' {
		return true
	}
	if c := text[i-1]; deep && (c == '=' || c == '&' || c == '?') {
		return true
	}
	for _, word := range [...]string{"export", "set", "ENV", "env", "ARG", "-e", "setx"} {
		if bytes.HasSuffix(text[:i], []byte(word)) {
			return true
		}
	}
	return numbered(text[:i])
}

// leadsLine reports whether c may precede the first word of a line, as in a list, a comment, a diff or a quotation.
func leadsLine(c byte) bool {
	switch c {
	case ' ', '\t', '-', '+', '#', '>', '"', '\'':
		return true
	}
	return false
}

// numbered reports whether text ends with a line number.
func numbered(text []byte) bool {
	if bytes.HasSuffix(text, []byte("→")) {
		return true
	}
	i, d := len(text), Digits.RunBack(text, 8)
	return d > 0 && (i-d == 0 || text[i-d-1] == '\n' || text[i-d-1] == ' ')
}

// endsLine reports whether only blanks and a comment precede the next line end of text.
func endsLine(text []byte) bool {
	n := spaces(text)
	if n == len(text) {
		return true
	}
	switch text[n] {
	case '\n', '\r':
		return true
	case '#':
		return n > 0
	case '\\':
		return n+1 < len(text) && (text[n+1] == 'n' || text[n+1] == 'r')
	case '"', '\'', '`':
		return n == 0
	}
	return false
}
