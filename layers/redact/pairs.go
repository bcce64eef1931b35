package redact

import "bytes"

// nameChars are those of the name in name = value.
var nameChars = dotted

// maxValue is how much of a line is looked at for the value of a pair.
const maxValue = 4 << 10

// pair looks at the name around text[at:] and, if it is one of a secret, at the value beside it.
func (s *scan) pair(at int, _ *word) {
	if at < s.name {
		return // the name was looked at already
	}
	text := s.text
	start := at - nameChars.runBack(text[:at], 64)
	end := at + nameChars.run(text[at:], 64)
	s.name = end
	if start > 0 && start == at-64 {
		return
	}
	for end > at && text[end-1] == '.' {
		end--
	}
	if n := unpainted(text, start); n < at+3 {
		start = n
	}
	name := text[start:end]
	if start >= 1 && text[start-1] == '\\' && len(name) > 1 && (name[0] == 'n' || name[0] == 't') {
		name, start = name[1:], start+1 // behind \n, as in a string within a string
	}
	kind := secretName(name)
	if string(name) == "PASS" && end < len(text) && text[end] == ':' {
		return // of a test
	}
	if kind == "" {
		s.many(name, end)
		return
	}
	if s.compared(kind, end) {
		return
	}
	v, st, ok := s.value(name, start, end)
	if ok && s.judged(kind, v, st) {
		s.found(v.start, v.end, kind)
		s.beside(kind, v.end)
		return
	}
	if !ok || st == sentence { // elsewhere the value is there, and no secret
		s.said(name, end)
	}
	s.table(start, end)
}

// judged reports whether the value v of that style may be a secret of the kind. What ends a sentence may belong to it.
func (s *scan) judged(kind string, v span, st style) bool {
	value := s.text[v.start:v.end]
	if st == sentence {
		value = bytes.TrimRight(value, sentenceMarks)
	}
	return plausible(kind, value, st)
}

// many looks at the list whose name ends at end, if it is one of secrets.
func (s *scan) many(name []byte, end int) {
	kind := plural(name)
	if kind == "" {
		return
	}
	i, _, _ := behind(s.text, end)
	if i += spaces(s.text[i:]); i >= len(s.text) || s.text[i] != ':' && s.text[i] != '=' {
		return
	}
	if i++; newline(s.text[i:]) > 0 {
		s.items(i, kind)
		return
	}
	if i += spaces(s.text[i:]); i < len(s.text) && s.text[i] == '[' {
		s.list(i+1, kind)
	}
}

// value finds what stands behind a name that ends at end, and how.
func (s *scan) value(name []byte, start, end int) (v span, st style, ok bool) {
	text := s.text
	i, painted, closed := behind(text, end)
	blanks := spaces(text[i:])
	i += blanks
	if i >= len(text) {
		return v, st, false
	}
	switch c := text[i]; {
	case blanks > 0 && !closed && leading.has(c) && i+1 < len(text) && alnum.has(text[i+1]) && start > 1 && text[start-1] == ' ' && letters.has(text[start-2]) && secretName(name) == "password" &&
		s.judged("password", s.word(i), sentence):
		return s.word(i), sentence, true // with password =value
	case c == '=' || c == ':' || (c == '!' || c == '?') && i+1 < len(text) && text[i+1] == '=':
		return s.operand(name, start, i, i-painted == end)
	case bytes.HasPrefix(text[i:], []byte("：")):
		return s.spoken(i + len("："))
	case newline(text[i:]) > 0:
		return s.entry(start, i)
	case element(text[:start]) && (c == '>' || blanks > 0): // <password>value</password>
		return s.element(i)
	case c == '>' && closed: // the name is in a tag
		return s.tagged(i + 1)
	case c == '<':
		return s.property(i)
	case c == '{' && closed:
		return s.inner(i + 1)
	case c == '{' && blanks > 0 && hasFold(text[i:], "{ get"): // of C#
		return s.initialised(i)
	case c == ';' && closed && hasFold(text[i+1:], "s:"): // of PHP
		n := i + len(";s:")
		n += digits.run(text[n:], 6)
		return s.literal(min(n+1, len(text)))
	case c == '(' && i == end && (setter(name) || bytes.HasSuffix(text[:start], []byte("= "))):
		return s.literal(i + 1)
	case c == '|' && cellOf(text[:start]):
		return s.cell(i + 1)
	case bytes.HasPrefix(text[i:], []byte("│")):
		return s.cell(i + len("│"))
	case c == '|' && blanks > 0 && opensLine(text[:start], false):
		if v, st, ok = s.cell(i + 1); ok && endsLine(text[v.end:]) {
			return v, st, ok
		}
		return v, st, false
	case (c == '|' || c == '?') && i+1 < len(text) && text[i+1] == c: // or else
		return s.literal(i + 2 + spaces(text[i+2:]))
	case c == ',' && hasFold(text[i+1:], "parametervalue="):
		i += 1 + len("parametervalue=")
		return span{start: i, end: i + unquotedChars.run(text[i:], maxValue)}, env, true
	case c == ',' && closed && start > 0 && defines(bytes.TrimRight(text[:start-1], `\`)):
		i += 1 + spaces(text[i+1:])
		if hasFold(text[i:], "default=") {
			i += len("default=")
		}
		return s.literal(i)
	case c == ',' && closed && name[0] == '-' && len(name) > 2: // of the arguments of a program
		i++
		for i += spaces(text[i:]); newline(text[i:]) > 0; i += spaces(text[i:]) {
			i = lineStart(text, i+newline(text[i:]))
		}
		return s.literal(i)
	case c == ',' && closed:
		return s.member(i+1, names(text[:start]))
	case closed && hasFold(text[i:], "value="):
		return s.literal(i + len("value="))
	case i > end && !closed && (hasFold(text[i:], "is ") || hasFold(text[i:], "to ")):
		return s.spoken(i + len("is "))
	case c == '"' || c == '\'' || c == '\\':
		if i > end { // PASSWORD 'x'
			if v, st, ok = s.literal(i); ok || closed {
				return v, st, ok
			}
			return s.apart(name, start, i, blanks)
		}
	case blanks > 0 && !closed && (bytes.HasPrefix(name, []byte("-")) || directive(name) || netrc(text[:start]) || assigns(text[:start])):
		if st = env; string(name) == "-pass" && bytes.HasSuffix(text[:start], []byte("\n")) {
			st = line // of a patch: the verb, more often than the option
		}
		end := wordEnd(text, i)
		return span{start: i, end: end}, st, end > i
	case blanks > 0 && !closed:
		return s.apart(name, start, i, blanks)
	}
	return v, st, false
}

// leading are marks that a password in a sentence may begin with and that stand before values elsewhere.
var leading = setOf(":=<>?!|;,{")

// spoken finds the value at i of "the password is value".
func (s *scan) spoken(i int) (v span, st style, ok bool) {
	i += spaces(s.text[i:])
	v = s.word(i)
	return v, sentence, v.end > v.start
}

// opensQuote reports whether text begins with a quote, behind backslashes.
func opensQuote(text []byte) bool {
	rest := bytes.TrimLeft(text, `\`)
	return len(rest) > 0 && quote(rest[0])
}

// word returns where the word at i of a sentence is, between quotes or not.
func (s *scan) word(i int) span {
	text := s.text
	n := i
	for n < len(text) && text[n] == '\\' {
		n++
	}
	if n < len(text) && (text[n] == '`' || quote(text[n])) {
		if end, ok := closingQuote(text, n+1, text[n], n-i); ok {
			return span{start: n + 1, end: end}
		}
	}
	end := wordEnd(text, i)
	if end < len(text) && (text[end] == ',' || text[end] == ';') && traitsOf(text[i:end]).strange > 1 && (end+1 == len(text) || text[end+1] <= ' ') {
		end++ // it may be the last of the value
	}
	return span{start: i, end: end}
}

// apart finds the value at i that only blanks set apart from its name: in a table, and in "with password value".
func (s *scan) apart(name []byte, start, i, blanks int) (v span, st style, ok bool) {
	text := s.text
	if hasFold(text[i:], "reg_") { // of Windows
		i += wordly.run(text[i:], 16)
		blanks = spaces(text[i:])
		i += blanks
	}
	v = s.word(i)
	columns := (upperName(name) && blanks > 1 || blanks > 2 || text[i-1] == '\t') && (start == 0 || opensLine(text[:start], false)) && endsLine(text[v.end:])
	if columns {
		return v, loose, v.end > v.start
	}
	return v, sentence, v.end > v.start && secretName(name) == "password"
}

// headerEnd returns the length of the value of a header that a command is given, or of a line that is all of a string: what stands
// before the quote that closes it.
func headerEnd(before, value []byte) int {
	if len(before) < 4 || !quote(before[len(before)-1]) {
		return 0
	}
	option := bytes.TrimRight(before[:len(before)-1], " \\=")
	if !bytes.HasSuffix(option, []byte("-H")) && !bytes.HasSuffix(option, []byte("--header")) && !bytes.HasSuffix(option, []byte(`":`)) {
		return 0
	}
	n := bytes.IndexByte(value, before[len(before)-1])
	if n > 0 && value[n-1] == '\\' {
		n--
	}
	return n
}

// netrc reports whether text ends with "login NAME ".
func netrc(text []byte) bool {
	text = text[max(0, len(text)-96):]
	if !bytes.Contains(text, []byte("login")) {
		return false
	}
	fields := bytes.Fields(text)
	if n := len(fields); n > 2 && bytes.HasSuffix(fields[n-1], []byte("→")) {
		fields = fields[:n-1] // the number of the line
	}
	return len(fields) >= 2 && string(fields[len(fields)-2]) == "login"
}

// operand finds the value behind the operator at op. Tight says that nothing stands between it and the name.
func (s *scan) operand(name []byte, start, op int, tight bool) (v span, st style, ok bool) {
	text := s.text
	i := op
	for i < len(text) && i < op+3 && (text[i] == '=' || text[i] == ':' || text[i] == '>' || text[i] == '!' || text[i] == '~' || text[i] == '?') {
		i++
	}
	if i > op+1 && i < len(text) && text[op] == '=' && tight && inWord.has(text[i]) && !quote(text[i]) && text[i] != '\\' {
		i = op + 1 // the value begins with such a mark
	}
	assigned := i
	if text[op] == ':' || !bytes.HasPrefix(text[i:], []byte("**")) {
		i = adorned(text, i)
	}
	if i >= len(text) {
		return v, st, false
	}
	if newline(text[i:]) > 0 {
		return s.nextLine(i)
	}
	if text[i] == '=' && i > assigned && i+1 < len(text) && (text[i+1] == ' ' || quote(text[i+1])) { // behind a type
		return s.literal(i + 1 + spaces(text[i+1:]))
	}
	if text[i] == '[' && i+1 < len(text) && (quote(text[i+1]) || text[i+1] == '\\') {
		return s.literal(i + 1)
	}
	tight = tight && assigned == i
	whole := lineEnd(text, i)
	rest := text[whole:]
	rest = rest[colour(rest):]
	alone := len(rest) == 0 || endsLine(rest)
	first := start == 0 || opensLine(unpaintedLine(text[:start]), s.depth > 0)
	raw := text[op] == '=' && tight && upperName(name) && string(name) != "PWD" && first && alone // of an environment file: quotes are a part of it unless they are around it
	if v, st, ok = s.literal(i); ok && (!raw || endsLine(text[min(len(text), v.end+1):]) || closers.has(text[min(len(text)-1, v.end+1)])) {
		return v, st, ok
	}
	if v, st, ok = s.below(i); ok {
		return v, st, ok
	}
	if text[i] == '{' && text[op] == ':' || bytes.HasPrefix(text[i:], []byte(`{"`)) {
		return s.inner(i + 1)
	}
	if v, ok = braced(text, i); ok {
		return v, loose, ok
	}
	if text[op] == '=' && !raw {
		if v, ok = s.connection(start, i); ok {
			return v, env, ok
		}
	}
	if !raw && (text[i] == '"' || text[i] == '\'' || text[i] == '`' || text[i] == '\\' && opensQuote(text[i:])) {
		return v, st, false
	}
	if n := headerEnd(text[:start], text[i:whole]); n > 0 {
		return span{start: i, end: i + n}, line, true
	}
	st = loose
	switch {
	case text[op] == '=' && tight && (upperName(name) || first && alone || bytes.HasPrefix(name, []byte("--"))):
		st = env
	case first && alone && (assigned == op+1 || text[assigned-1] == '='):
		st = line
	}
	if raw {
		return span{start: i, end: whole}, st, whole > i
	}
	if alone && st != loose {
		return trimmed(text, i, whole), st, whole > i
	}
	return s.inCode(name, op, assigned, i, st)
}

// inCode finds the value at i that other things stand behind.
func (s *scan) inCode(name []byte, op, assigned, i int, st style) (span, style, bool) {
	text := s.text
	end := wordEnd(text, i)
	if q := end + spaces(text[end:]); st == loose && q < len(text) && text[q] == '=' { // password: string = "x"
		q++
		return s.literal(q + spaces(text[min(q, len(text)):]))
	}
	if st == loose && calls(text[i:end]) {
		return span{}, st, false
	}
	if uuid(text[i:end]) {
		return span{start: i, end: end}, line, true
	}
	tight := assigned == i
	if st == loose && text[op] == ':' && text[assigned-1] == ':' && !tight && secretName(name) != "password" && (end-i < 20 || !strong(text[i:end])) {
		return span{}, st, false // prose, or a type
	}
	if st == loose && text[op] == ':' && !tight && secretName(name) == "password" {
		st = sentence
	}
	return span{start: i, end: end}, st, end > i
}

// trimmed returns text[start:end] without the punctuation of a list or sentence at its end.
func trimmed(text []byte, start, end int) span {
	for end > start && (text[end-1] == ',' || text[end-1] == ';') && (end-start < 2 || traitsOf(text[start:end-1]).strange == 0 || bytes.IndexByte([]byte("\"'`)]}"), text[end-2]) >= 0) {
		end--
	}
	return span{start: start, end: end}
}

var (
	// visibleLine is what a value alone on its line may hold.
	visibleLine = inWord
	// unquotedChars is what a value may hold that other things stand behind.
	unquotedChars = func() (v set) {
		for c := range 256 {
			if visible.has(byte(c)) && bytes.IndexByte([]byte(`,;()[]{}|&\`), byte(c)) < 0 {
				v[c>>6] |= 1 << (c & 63)
			}
		}
		return v
	}()
)

func spaces(text []byte) int {
	n := 0
	for n < len(text) && n < 16 && (text[n] == ' ' || text[n] == '\t') {
		n++
	}
	return n
}

// opensLine reports whether text ends where the first word of a line may stand. In a text that was decoded that may be
// the beginning of a part of a query.
func opensLine(text []byte, deep bool) bool {
	i := len(text)
	for i > 0 && i > len(text)-48 && (text[i-1] == ' ' || text[i-1] == '\t' || text[i-1] == '-' || text[i-1] == '+' || text[i-1] == '#' || text[i-1] == '>' || text[i-1] == '"' || text[i-1] == '\'') {
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
	// the number that a listing puts before its lines
	d := digits.runBack(text[:i], 8)
	arrow := bytes.HasSuffix(text[:i], []byte("→"))
	if arrow {
		d = 1
	}
	return d > 0 && (arrow || i-d == 0 || text[i-d-1] == '\n' || text[i-d-1] == ' ')
}

// endsLine reports whether nothing but blanks and a comment stands on the line before text goes on.
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
