package redact

import (
	"bytes"
)

// pair examines the name around text[at:] and, if it is that of a secret, the value after it.
func (s *Scan) pair(at int, _ *word) {
	if at < s.name {
		return // the name was looked at already
	}
	text := s.Text
	start := at - nameChars.RunBack(text[:at], 64)
	end := at + nameChars.Run(text[at:], 64)
	s.name = end
	if start > 0 && start == at-64 {
		return
	}
	for end > at && text[end-1] == '.' {
		end--
	}
	if n := skipColour(text, start); n < at+3 {
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
		s.secretList(name, end)
		return
	}
	v, st, ok := s.value(name, start, end)
	if ok && s.plausible(kind, v, st) {
		s.found(v.Start, v.End, kind)
		s.changed(kind, v.End)
		return
	}
	if !ok || st == Sentence { // elsewhere the value is there, and no secret
		s.inSentence(name, end)
	}
	s.table(start, end)
}

// changed finds the value that an arrow after the quoted one ending at end shows as its replacement, as a plan of
// terraform does.
func (s *Scan) changed(kind string, end int) {
	i, _, closed := skipClosers(s.Text, end)
	if rest, arrow := bytes.CutPrefix(s.Text[i:], []byte(" -> ")); closed && arrow {
		if v, st, ok := s.literal(len(s.Text) - len(rest)); ok && s.plausible(kind, v, st) {
			s.found(v.Start, v.End, kind)
		}
	}
}

// plausible reports whether the value v of that style may be a secret of the kind. The punctuation at the end of a
// sentence is ignored.
func (s *Scan) plausible(kind string, v Span, st Style) bool {
	value := s.Text[v.Start:v.End]
	if st == Sentence {
		value = bytes.TrimRight(value, sentenceMarks)
	}
	return Plausible(kind, value, st)
}

// secretList examines the list after the name that ends at end, if the name is a plural of a secret's.
func (s *Scan) secretList(name []byte, end int) {
	kind := pluralKind(name)
	if kind == "" {
		return
	}
	i, _, _ := skipClosers(s.Text, end)
	if i += spaces(s.Text[i:]); i >= len(s.Text) || s.Text[i] != ':' && s.Text[i] != '=' {
		return
	}
	if i++; Newline(s.Text[i:]) > 0 {
		s.items(i, kind)
		return
	}
	if i += spaces(s.Text[i:]); i < len(s.Text) && s.Text[i] == '[' {
		s.list(i+1, kind)
	}
}

// A pairPlace is where the value of a pair may begin, and what precedes it.
type pairPlace struct {
	name       []byte
	start, end int  // of the name
	i          int  // the start of the value or of an operator before it
	blanks     int  // before i
	closed     bool // the name is quoted
}

// value returns the value after the name text[start:end], and its style.
func (s *Scan) value(name []byte, start, end int) (v Span, st Style, ok bool) {
	text := s.Text
	i, painted, closed := skipClosers(text, end)
	blanks := spaces(text[i:])
	i += blanks
	if i >= len(text) {
		return v, st, false
	}
	p := pairPlace{name: name, start: start, end: end, i: i, blanks: blanks, closed: closed}
	c := text[i]
	if s.prefixed(&p, c) {
		return s.word(i), Sentence, true // with password =value
	}
	switch {
	case c == '=' || c == ':' || (c == '!' || c == '?') && i+1 < len(text) && text[i+1] == '=':
		return s.operand(name, start, i, i-painted == end)
	case bytes.HasPrefix(text[i:], []byte("：")):
		return s.sentenceValue(i + len("："))
	case Newline(text[i:]) > 0:
		return s.nameValueEntry(start, i)
	case element(text[:start]) && (c == '>' || blanks > 0): // <password>value</password>
		return s.element(i)
	}
	if v, st, ok, done := s.enclosed(&p, c); done {
		return v, st, ok
	}
	if v, st, ok, done := s.inCell(&p, c); done {
		return v, st, ok
	}
	if c == ',' {
		if v, st, ok, done := s.listed(&p); done {
			return v, st, ok
		}
	}
	return s.behindBlanks(&p, c)
}

// prefixed reports whether c is a mark that begins the password of a sentence, as in "with password =value".
func (s *Scan) prefixed(p *pairPlace, c byte) bool {
	text, i := s.Text, p.i
	return p.blanks > 0 && !p.closed && leading.Has(c) && i+1 < len(text) && Alnum.Has(text[i+1]) &&
		p.start > 1 && text[p.start-1] == ' ' && Letters.Has(text[p.start-2]) &&
		secretName(p.name) == "password" && s.plausible("password", s.word(i), Sentence)
}

// enclosed returns a value in a tag, a group or a call that begins with c.
func (s *Scan) enclosed(p *pairPlace, c byte) (v Span, st Style, ok, done bool) {
	text, i := s.Text, p.i
	switch {
	case c == '>' && p.closed: // the name is in a tag
		v, st, ok = s.elementText(i + 1)
	case c == '{' && p.closed:
		v, st, ok = s.nestedValue(i + 1)
	case c == ';' && p.closed && hasFold(text[i+1:], "s:"): // of PHP
		n := i + len(";s:")
		n += Digits.Run(text[n:], 6)
		v, st, ok = s.literal(min(n+1, len(text)))
	case c == '(' && i == p.end:
		v, st, ok = s.literal(i + 1)
	default:
		return v, st, false, false
	}
	return v, st, ok, true
}

// inCell returns a value in the next cell of a table, or after an operator "or else".
func (s *Scan) inCell(p *pairPlace, c byte) (v Span, st Style, ok, done bool) {
	text, i := s.Text, p.i
	switch {
	case c == '|' && opensCell(text[:p.start]):
		v, st, ok = s.cell(i + 1)
	case bytes.HasPrefix(text[i:], []byte("│")):
		v, st, ok = s.cell(i + len("│"))
	case c == '|' && p.blanks > 0 && opensLine(text[:p.start], false):
		v, st, ok = s.cell(i + 1)
		ok = ok && endsLine(text[v.End:])
	case (c == '|' || c == '?') && i+1 < len(text) && text[i+1] == c: // or else
		v, st, ok = s.literal(i + 2 + spaces(text[i+2:]))
	default:
		return v, st, false, false
	}
	return v, st, ok, true
}

// listed returns a value after the comma at p.i.
func (s *Scan) listed(p *pairPlace) (v Span, st Style, ok, done bool) {
	text, i := s.Text, p.i
	switch {
	case hasFold(text[i+1:], "parametervalue="):
		i += 1 + len("parametervalue=")
		v = Span{Start: i, End: i + unquotedChars.Run(text[i:], maxValue)}
		return v, env, true, true
	case !p.closed:
		return v, st, false, false
	case p.start > 0 && defines(bytes.TrimRight(text[:p.start-1], `\`)):
		i += 1 + spaces(text[i+1:])
		if hasFold(text[i:], "default=") {
			i += len("default=")
		}
		v, st, ok = s.literal(i)
	case p.name[0] == '-' && len(p.name) > 2: // of the arguments of a program
		i++
		for i += spaces(text[i:]); Newline(text[i:]) > 0; i += spaces(text[i:]) {
			i = lineStart(text, i+Newline(text[i:]))
		}
		v, st, ok = s.literal(i)
	default:
		v, st, ok = s.member(i + 1)
	}
	return v, st, ok, true
}

// behindBlanks returns a value that only blanks, a word or a quote separate from its name.
func (s *Scan) behindBlanks(p *pairPlace, c byte) (v Span, st Style, ok bool) {
	text, i := s.Text, p.i
	switch {
	case p.closed && hasFold(text[i:], "value="):
		return s.literal(i + len("value="))
	case i > p.end && !p.closed && (hasFold(text[i:], "is ") || hasFold(text[i:], "to ")):
		return s.sentenceValue(i + len("is "))
	case c == '"' || c == '\'' || c == '\\':
		if i == p.end {
			return v, st, false
		}
		if v, st, ok = s.literal(i); ok || p.closed { // PASSWORD 'x'
			return v, st, ok
		}
		return s.afterBlanks(p.name, p.start, i, p.blanks)
	case p.blanks == 0 || p.closed:
		return v, st, false
	case bytes.HasPrefix(p.name, []byte("-")) || netrc(text[:p.start]) ||
		Assigns(text[:p.start]):
		if st = env; string(p.name) == "-pass" && bytes.HasSuffix(text[:p.start], []byte("\n")) {
			st = Line // of a patch: the verb, more often than the option
		}
		end := wordEnd(text, i)
		return Span{Start: i, End: end}, st, end > i
	}
	return s.afterBlanks(p.name, p.start, i, p.blanks)
}

// sentenceValue returns the value at i of "the password is value".
func (s *Scan) sentenceValue(i int) (v Span, st Style, ok bool) {
	i += spaces(s.Text[i:])
	v = s.word(i)
	return v, Sentence, v.End > v.Start
}

// word returns the bounds of the word at i of a sentence, without its quotes.
func (s *Scan) word(i int) Span {
	text := s.Text
	if n := Groups(text[min(i, len(text)):]); n > 0 {
		return Span{Start: i, End: i + n}
	}
	n := i
	for n < len(text) && text[n] == '\\' {
		n++
	}
	if n < len(text) && (text[n] == '`' || Quote(text[n])) {
		if k := Groups(text[n+1:]); k > 0 {
			return Span{Start: n + 1, End: n + 1 + k}
		}
		if end, ok := closingQuote(text, n+1, text[n], n-i); ok {
			return Span{Start: n + 1, End: end}
		}
	}
	end := wordEnd(text, i)
	if end < len(text) && (text[end] == ',' || text[end] == ';') && traitsOf(text[i:end]).Strange > 1 &&
		(end+1 == len(text) || text[end+1] <= ' ') {
		end++ // it may be the last of the value
	}
	return Span{Start: i, End: end}
}

// afterBlanks returns the value at i that only blanks separate from its name, as in a table or in "with password
// value".
func (s *Scan) afterBlanks(name []byte, start, i, blanks int) (v Span, st Style, ok bool) {
	text := s.Text
	if hasFold(text[i:], "reg_") { // of Windows
		i += wordChars.Run(text[i:], 16)
		blanks = spaces(text[i:])
		i += blanks
	}
	v = s.word(i)
	columns := (upperName(name) && blanks > 1 || blanks > 2 || text[i-1] == '\t') &&
		(start == 0 || opensLine(text[:start], false)) && endsLine(text[v.End:])
	if columns {
		return v, loose, v.End > v.Start
	}
	return v, Sentence, v.End > v.Start && secretName(name) == "password"
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

// operatorEnd returns the end of the operator at op. tight reports that the operator follows the name directly.
func operatorEnd(text []byte, op int, tight bool) int {
	i := op
	for i < len(text) && i < op+3 && (text[i] == '=' || text[i] == ':' || text[i] == '>' || text[i] == '!' ||
		text[i] == '~' || text[i] == '?') {
		i++
	}
	if i > op+1 && i < len(text) && text[op] == '=' && tight && inWord.Has(text[i]) && !Quote(text[i]) &&
		text[i] != '\\' {
		return op + 1 // the value begins with such a mark
	}
	return i
}

// operand returns the value after the operator at op. tight reports that the operator follows the name directly.
func (s *Scan) operand(name []byte, start, op int, tight bool) (v Span, st Style, ok bool) {
	text := s.Text
	assigned := operatorEnd(text, op, tight)
	i := assigned
	if text[op] == ':' || !bytes.HasPrefix(text[i:], []byte("**")) {
		i = skipDecoration(text, i)
	}
	if i >= len(text) {
		return v, st, false
	}
	if Newline(text[i:]) > 0 {
		return s.nextLine(i)
	}
	if n := Groups(text[i:]); n > 0 {
		return Span{Start: i, End: i + n}, Line, true
	}
	// behind a type
	if text[i] == '=' && i > assigned && i+1 < len(text) && (text[i+1] == ' ' || Quote(text[i+1])) {
		return s.literal(i + 1 + spaces(text[i+1:]))
	}
	if text[i] == '[' && i+1 < len(text) && (Quote(text[i+1]) || text[i+1] == '\\') {
		return s.literal(i + 1)
	}
	a := assignment{name: name, start: start, op: op, assigned: assigned, i: i, tight: tight && assigned == i}
	s.surround(&a)
	if v, st, ok, done := s.delimited(&a); done {
		return v, st, ok
	}
	return s.undelimited(&a)
}

// An assignment is a name, an operator and the start of its value.
type assignment struct {
	name     []byte
	start    int // of the name
	op       int // the operator
	assigned int // its end
	i        int // where the value begins
	whole    int // the end of its line
	tight    bool
	first    bool // the name is the first in its line
	alone    bool // nothing follows the value
	raw      bool // in an environment file: quotes inside the value are a part of it
}

// surround sets the fields that depend on the rest of the line.
func (s *Scan) surround(a *assignment) {
	text := s.Text
	a.whole = LineEnd(text, a.i)
	rest := text[a.whole:]
	rest = rest[colour(rest):]
	a.alone = len(rest) == 0 || endsLine(rest)
	a.first = a.start == 0 || opensLine(trimColour(text[:a.start]), s.depth > 0)
	a.raw = text[a.op] == '=' && a.tight && upperName(a.name) && string(a.name) != "PWD" && a.first && a.alone
}

// delimited returns a value with an end mark: a literal, a group, a part of a connection string.
func (s *Scan) delimited(a *assignment) (v Span, st Style, ok, done bool) {
	text, i := s.Text, a.i
	if v, st, ok = s.literal(i); ok && (!a.raw || endsLine(text[min(len(text), v.End+1):]) ||
		closers.Has(text[min(len(text)-1, v.End+1)])) {
		if a.raw {
			st = env // quotes add nothing there
		}
		return v, st, ok, true
	}
	if v, st, ok = s.blockValue(i); ok {
		return v, st, ok, true
	}
	if text[i] == '{' && text[a.op] == ':' || bytes.HasPrefix(text[i:], []byte(`{"`)) {
		v, st, ok = s.nestedValue(i + 1)
		return v, st, ok, true
	}
	if text[a.op] == '=' && !a.raw {
		if v, ok = s.connection(a.start, i); ok {
			return v, env, ok, true
		}
	}
	if !a.raw && (text[i] == '"' || text[i] == '\'' || text[i] == '`' || text[i] == '\\') {
		return v, st, false, true
	}
	return v, st, false, false
}

// undelimited returns a value that ends with its line or at other text.
func (s *Scan) undelimited(a *assignment) (v Span, st Style, ok bool) {
	text, i := s.Text, a.i
	if n := headerEnd(text[:a.start], text[i:a.whole]); n > 0 {
		return Span{Start: i, End: i + n}, Line, true
	}
	st = loose
	var option []byte
	if text[a.op] == '=' && a.tight {
		option = optionOf(text[:a.start])
	}
	switch {
	case bytes.HasPrefix(option, []byte("--set")):
		end := wordEnd(text, i)
		end = i + listItem(text[i:end])
		return Span{Start: i, End: end}, env, end > i
	case text[a.op] == '=' && a.tight &&
		(upperName(a.name) || a.first && a.alone || a.name[0] == '-' || option != nil || inQuery(text[:a.start]) || s.amongKeys(a)):
		st = env
	case a.first && a.alone && (a.assigned == a.op+1 || text[a.assigned-1] == '='):
		st = Line
	}
	if a.raw {
		return Span{Start: i, End: a.whole}, st, a.whole > i
	}
	if a.alone && st != loose {
		return trimPunctuation(text, i, a.whole), st, a.whole > i
	}
	return s.inCode(a, st)
}

// inQuery reports whether text ends inside the query of a URL, where a name begins.
func inQuery(text []byte) bool {
	n := len(text)
	if n == 0 || text[n-1] != '&' && text[n-1] != '?' {
		return false
	}
	word := text[n-inWord.RunBack(text, maxValue):]
	return bytes.Contains(word, []byte("://")) || bytes.Contains(word, []byte("jdbc:"))
}

// amongKeys reports whether an assignment is one of several that only blanks separate, and others name a connection:
// host=db user=app password=value.
func (s *Scan) amongKeys(a *assignment) bool {
	text := s.Text
	if a.start == 0 || text[a.start-1] != ' ' && !Quote(text[a.start-1]) {
		return false
	}
	line := text[max(0, a.start-200):a.start]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	rest := text[wordEnd(text, a.i):a.whole]
	before, after := bytes.Fields(line), bytes.Fields(rest)
	paired := func(word []byte) bool {
		n := wordChars.Run(word, 32)
		return n > 1 && n+1 < len(word) && word[n] == '=' && word[len(word)-1] != ','
	}
	return len(before) > 0 && paired(bytes.TrimLeft(before[len(before)-1], `"'`)) && hasConnectionKey(line) ||
		len(after) > 0 && len(rest) > 0 && rest[0] == ' ' && paired(after[0]) && hasConnectionKey(rest[:min(len(rest), 200)])
}

// optionOf returns the option whose value begins at the end of text, as "--set" in "--set a=1,db.", or nil.
func optionOf(text []byte) []byte {
	word := len(text) - inWord.RunBack(text, maxCommand)
	end := len(bytes.TrimRight(text[max(0, word-8):word], " ")) + max(0, word-8)
	if end == word {
		return nil
	}
	start := end - urlChars.RunBack(text[:end], 32)
	if start == end || text[start] != '-' || text[end-1] == '-' || start > 0 && text[start-1] > ' ' {
		return nil
	}
	return text[start:end]
}

// listItem returns the length of the first item of a list of helm: a comma in it is behind a backslash.
func listItem(value []byte) int {
	for i, c := range value {
		if c == ',' && (i == 0 || value[i-1] != '\\') {
			return i
		}
	}
	return len(value)
}

// inCode returns the value at i that other text follows.
func (s *Scan) inCode(a *assignment, st Style) (Span, Style, bool) {
	text, i := s.Text, a.i
	end := wordEnd(text, i)
	// password: string = "x"
	if q := end + spaces(text[end:]); st == loose && q < len(text) && text[q] == '=' {
		q++
		return s.literal(q + spaces(text[min(q, len(text)):]))
	}
	if st == loose && hasCall(text[i:end]) {
		return Span{}, st, false
	}
	if isUUID(text[i:end]) {
		return Span{Start: i, End: end}, Line, true
	}
	if st == loose && text[a.op] == ':' && text[a.assigned-1] == ':' && i != a.assigned &&
		secretName(a.name) != "password" && (end-i < 20 || !strong(text[i:end])) {
		return Span{}, st, false // prose, or a type
	}
	if st == loose && text[a.op] == ':' && i != a.assigned && secretName(a.name) == "password" {
		st = Sentence
	}
	return Span{Start: i, End: end}, st, end > i
}
