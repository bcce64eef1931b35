package scanner

import (
	"bytes"

	"github.com/memvcs/mem/layers/redact/lexical"
)

// pair looks at the name around text[at:] and, if it is one of a secret, at the value beside it.
func (s *Scan) pair(at int, _ *word) {
	if at < s.name {
		return // the name was looked at already
	}
	text := s.Text
	start := at - lexical.NameChars.RunBack(text[:at], 64)
	end := at + lexical.NameChars.Run(text[at:], 64)
	s.name = end
	if start > 0 && start == at-64 {
		return
	}
	for end > at && text[end-1] == '.' {
		end--
	}
	if n := lexical.Unpainted(text, start); n < at+3 {
		start = n
	}
	name := text[start:end]
	if start >= 1 && text[start-1] == '\\' && len(name) > 1 && (name[0] == 'n' || name[0] == 't') {
		name, start = name[1:], start+1 // behind \n, as in a string within a string
	}
	kind := lexical.SecretName(name)
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
		s.found(v.Start, v.End, kind)
		s.beside(kind, v.End)
		return
	}
	if !ok || st == lexical.Sentence { // elsewhere the value is there, and no secret
		s.said(name, end)
	}
	s.table(start, end)
}

// judged reports whether the value v of that style may be a secret of the kind. What ends a sentence may belong to it.
func (s *Scan) judged(kind string, v lexical.Span, st lexical.Style) bool {
	value := s.Text[v.Start:v.End]
	if st == lexical.Sentence {
		value = bytes.TrimRight(value, lexical.SentenceMarks)
	}
	return lexical.Plausible(kind, value, st)
}

// many looks at the list whose name ends at end, if it is one of secrets.
func (s *Scan) many(name []byte, end int) {
	kind := lexical.Plural(name)
	if kind == "" {
		return
	}
	i, _, _ := lexical.Behind(s.Text, end)
	if i += lexical.Spaces(s.Text[i:]); i >= len(s.Text) || s.Text[i] != ':' && s.Text[i] != '=' {
		return
	}
	if i++; lexical.Newline(s.Text[i:]) > 0 {
		s.items(i, kind)
		return
	}
	if i += lexical.Spaces(s.Text[i:]); i < len(s.Text) && s.Text[i] == '[' {
		s.list(i+1, kind)
	}
}

// value finds what stands behind a name that ends at end, and how.
func (s *Scan) value(name []byte, start, end int) (v lexical.Span, st lexical.Style, ok bool) {
	text := s.Text
	i, painted, closed := lexical.Behind(text, end)
	blanks := lexical.Spaces(text[i:])
	i += blanks
	if i >= len(text) {
		return v, st, false
	}
	switch c := text[i]; {
	case blanks > 0 && !closed && lexical.Leading.Has(c) && i+1 < len(text) && lexical.Alnum.Has(text[i+1]) && start > 1 &&
		text[start-1] == ' ' && lexical.Letters.Has(text[start-2]) && lexical.SecretName(name) == "password" &&
		s.judged("password", s.word(i), lexical.Sentence):
		return s.word(i), lexical.Sentence, true // with password =value
	case c == '=' || c == ':' || (c == '!' || c == '?') && i+1 < len(text) && text[i+1] == '=':
		return s.operand(name, start, i, i-painted == end)
	case bytes.HasPrefix(text[i:], []byte("：")):
		return s.spoken(i + len("："))
	case lexical.Newline(text[i:]) > 0:
		return s.entry(start, i)
	case element(text[:start]) && (c == '>' || blanks > 0): // <password>value</password>
		return s.element(i)
	case c == '>' && closed: // the name is in a tag
		return s.tagged(i + 1)
	case c == '<':
		return s.property(i)
	case c == '{' && closed:
		return s.inner(i + 1)
	case c == '{' && blanks > 0 && lexical.HasFold(text[i:], "{ get"): // of C#
		return s.initialised(i)
	case c == ';' && closed && lexical.HasFold(text[i+1:], "s:"): // of PHP
		n := i + len(";s:")
		n += lexical.Digits.Run(text[n:], 6)
		return s.literal(min(n+1, len(text)))
	case c == '(' && i == end && (Setter(name) || bytes.HasSuffix(text[:start], []byte("= "))):
		return s.literal(i + 1)
	case c == '|' && lexical.CellOf(text[:start]):
		return s.cell(i + 1)
	case bytes.HasPrefix(text[i:], []byte("│")):
		return s.cell(i + len("│"))
	case c == '|' && blanks > 0 && lexical.OpensLine(text[:start], false):
		if v, st, ok = s.cell(i + 1); ok && lexical.EndsLine(text[v.End:]) {
			return v, st, ok
		}
		return v, st, false
	case (c == '|' || c == '?') && i+1 < len(text) && text[i+1] == c: // or else
		return s.literal(i + 2 + lexical.Spaces(text[i+2:]))
	case c == ',' && lexical.HasFold(text[i+1:], "parametervalue="):
		i += 1 + len("parametervalue=")
		return lexical.Span{Start: i, End: i + lexical.UnquotedChars.Run(text[i:], lexical.MaxValue)}, lexical.Env, true
	case c == ',' && closed && start > 0 && lexical.Defines(bytes.TrimRight(text[:start-1], `\`)):
		i += 1 + lexical.Spaces(text[i+1:])
		if lexical.HasFold(text[i:], "default=") {
			i += len("default=")
		}
		return s.literal(i)
	case c == ',' && closed && name[0] == '-' && len(name) > 2: // of the arguments of a program
		i++
		for i += lexical.Spaces(text[i:]); lexical.Newline(text[i:]) > 0; i += lexical.Spaces(text[i:]) {
			i = lexical.LineStart(text, i+lexical.Newline(text[i:]))
		}
		return s.literal(i)
	case c == ',' && closed:
		return s.member(i+1, lexical.Names(text[:start]))
	case closed && lexical.HasFold(text[i:], "value="):
		return s.literal(i + len("value="))
	case i > end && !closed && (lexical.HasFold(text[i:], "is ") || lexical.HasFold(text[i:], "to ")):
		return s.spoken(i + len("is "))
	case c == '"' || c == '\'' || c == '\\':
		if i > end { // PASSWORD 'x'
			if v, st, ok = s.literal(i); ok || closed {
				return v, st, ok
			}
			return s.apart(name, start, i, blanks)
		}
	case blanks > 0 && !closed && (bytes.HasPrefix(name, []byte("-")) || directive(name) || netrc(text[:start]) ||
		lexical.Assigns(text[:start])):
		if st = lexical.Env; string(name) == "-pass" && bytes.HasSuffix(text[:start], []byte("\n")) {
			st = lexical.Line // of a patch: the verb, more often than the option
		}
		end := lexical.WordEnd(text, i)
		return lexical.Span{Start: i, End: end}, st, end > i
	case blanks > 0 && !closed:
		return s.apart(name, start, i, blanks)
	}
	return v, st, false
}

// spoken finds the value at i of "the password is value".
func (s *Scan) spoken(i int) (v lexical.Span, st lexical.Style, ok bool) {
	i += lexical.Spaces(s.Text[i:])
	v = s.word(i)
	return v, lexical.Sentence, v.End > v.Start
}

// word returns where the word at i of a sentence is, between quotes or not.
func (s *Scan) word(i int) lexical.Span {
	text := s.Text
	n := i
	for n < len(text) && text[n] == '\\' {
		n++
	}
	if n < len(text) && (text[n] == '`' || lexical.Quote(text[n])) {
		if end, ok := lexical.ClosingQuote(text, n+1, text[n], n-i); ok {
			return lexical.Span{Start: n + 1, End: end}
		}
	}
	end := lexical.WordEnd(text, i)
	if end < len(text) && (text[end] == ',' || text[end] == ';') && lexical.TraitsOf(text[i:end]).Strange > 1 &&
		(end+1 == len(text) || text[end+1] <= ' ') {
		end++ // it may be the last of the value
	}
	return lexical.Span{Start: i, End: end}
}

// apart finds the value at i that only blanks set apart from its name: in a table, and in "with password value".
func (s *Scan) apart(name []byte, start, i, blanks int) (v lexical.Span, st lexical.Style, ok bool) {
	text := s.Text
	if lexical.HasFold(text[i:], "reg_") { // of Windows
		i += lexical.Wordly.Run(text[i:], 16)
		blanks = lexical.Spaces(text[i:])
		i += blanks
	}
	v = s.word(i)
	columns := (lexical.UpperName(name) && blanks > 1 || blanks > 2 || text[i-1] == '\t') &&
		(start == 0 || lexical.OpensLine(text[:start], false)) && lexical.EndsLine(text[v.End:])
	if columns {
		return v, lexical.Loose, v.End > v.Start
	}
	return v, lexical.Sentence, v.End > v.Start && lexical.SecretName(name) == "password"
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
func (s *Scan) operand(name []byte, start, op int, tight bool) (v lexical.Span, st lexical.Style, ok bool) {
	text := s.Text
	i := op
	for i < len(text) && i < op+3 && (text[i] == '=' || text[i] == ':' || text[i] == '>' || text[i] == '!' ||
		text[i] == '~' || text[i] == '?') {
		i++
	}
	if i > op+1 && i < len(text) && text[op] == '=' && tight && lexical.InWord.Has(text[i]) && !lexical.Quote(text[i]) &&
		text[i] != '\\' {
		i = op + 1 // the value begins with such a mark
	}
	assigned := i
	if text[op] == ':' || !bytes.HasPrefix(text[i:], []byte("**")) {
		i = lexical.Adorned(text, i)
	}
	if i >= len(text) {
		return v, st, false
	}
	if lexical.Newline(text[i:]) > 0 {
		return s.nextLine(i)
	}
	// behind a type
	if text[i] == '=' && i > assigned && i+1 < len(text) && (text[i+1] == ' ' || lexical.Quote(text[i+1])) {
		return s.literal(i + 1 + lexical.Spaces(text[i+1:]))
	}
	if text[i] == '[' && i+1 < len(text) && (lexical.Quote(text[i+1]) || text[i+1] == '\\') {
		return s.literal(i + 1)
	}
	tight = tight && assigned == i
	whole := lexical.LineEnd(text, i)
	rest := text[whole:]
	rest = rest[lexical.Colour(rest):]
	alone := len(rest) == 0 || lexical.EndsLine(rest)
	first := start == 0 || lexical.OpensLine(lexical.UnpaintedLine(text[:start]), s.depth > 0)
	// of an environment file: quotes are a part of it unless they are around it
	raw := text[op] == '=' && tight && lexical.UpperName(name) && string(name) != "PWD" && first && alone
	if v, st, ok = s.literal(i); ok && (!raw || lexical.EndsLine(text[min(len(text), v.End+1):]) ||
		lexical.Closers.Has(text[min(len(text)-1, v.End+1)])) {
		return v, st, ok
	}
	if v, st, ok = s.below(i); ok {
		return v, st, ok
	}
	if text[i] == '{' && text[op] == ':' || bytes.HasPrefix(text[i:], []byte(`{"`)) {
		return s.inner(i + 1)
	}
	if v, ok = lexical.Braced(text, i); ok {
		return v, lexical.Loose, ok
	}
	if text[op] == '=' && !raw {
		if v, ok = s.connection(start, i); ok {
			return v, lexical.Env, ok
		}
	}
	if !raw && (text[i] == '"' || text[i] == '\'' || text[i] == '`' || text[i] == '\\' && lexical.OpensQuote(text[i:])) {
		return v, st, false
	}
	if n := lexical.HeaderEnd(text[:start], text[i:whole]); n > 0 {
		return lexical.Span{Start: i, End: i + n}, lexical.Line, true
	}
	st = lexical.Loose
	switch {
	case text[op] == '=' && tight && (lexical.UpperName(name) || first && alone || bytes.HasPrefix(name, []byte("--"))):
		st = lexical.Env
	case first && alone && (assigned == op+1 || text[assigned-1] == '='):
		st = lexical.Line
	}
	if raw {
		return lexical.Span{Start: i, End: whole}, st, whole > i
	}
	if alone && st != lexical.Loose {
		return lexical.Trimmed(text, i, whole), st, whole > i
	}
	return s.inCode(name, op, assigned, i, st)
}

// inCode finds the value at i that other things stand behind.
func (s *Scan) inCode(name []byte, op, assigned, i int, st lexical.Style) (lexical.Span, lexical.Style, bool) {
	text := s.Text
	end := lexical.WordEnd(text, i)
	// password: string = "x"
	if q := end + lexical.Spaces(text[end:]); st == lexical.Loose && q < len(text) && text[q] == '=' {
		q++
		return s.literal(q + lexical.Spaces(text[min(q, len(text)):]))
	}
	if st == lexical.Loose && lexical.Calls(text[i:end]) {
		return lexical.Span{}, st, false
	}
	if lexical.Uuid(text[i:end]) {
		return lexical.Span{Start: i, End: end}, lexical.Line, true
	}
	tight := assigned == i
	if st == lexical.Loose && text[op] == ':' && text[assigned-1] == ':' && !tight &&
		lexical.SecretName(name) != "password" && (end-i < 20 || !lexical.Strong(text[i:end])) {
		return lexical.Span{}, st, false // prose, or a type
	}
	if st == lexical.Loose && text[op] == ':' && !tight && lexical.SecretName(name) == "password" {
		st = lexical.Sentence
	}
	return lexical.Span{Start: i, End: end}, st, end > i
}
