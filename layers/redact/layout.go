package redact

import "bytes"

// colour returns the length of the sequences in front of text that colour it on a terminal, as they are or as JSON writes them.
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

// unpainted returns where the name begins that was found at start: behind the end of a sequence that colours it.
func unpainted(text []byte, start int) int {
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

// unpaintedLine returns text without the sequences at its end that colour what follows.
func unpaintedLine(text []byte) []byte {
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

// closers are what may stand between a name and what follows it.
var closers = setOf("\"'\\`]?*")

// behind returns where what closes a name ends that ends at end, how much of that is colour, and whether there was more.
func behind(text []byte, end int) (i, painted int, closed bool) {
	i = end
	for {
		c := colour(text[i:])
		n := 0
		for i+c+n < len(text) && i+n-end-painted < 6 && closers.has(text[i+c+n]) && colour(text[i+c+n:]) == 0 && newline(text[i+c+n:]) == 0 {
			n++
		}
		n += entity(text[i+c+n:]) + hidden(text[i+c+n:]) + dimension(text[i+c+n:])
		if n+c == 0 {
			return i, painted, i-painted > end
		}
		i, painted = i+n+c, painted+c
	}
}

// dimension returns the length of what says in C that a name in front of text is one of a list.
func dimension(text []byte) int {
	if len(text) > 1 && text[0] == '[' {
		if n := 1 + digits.run(text[1:], 5); n != 2 && n < len(text) && text[n] == ']' {
			return n + 1
		}
	}
	return 0
}

// entity returns the length of the quote in front of text that is written as HTML does it.
func entity(text []byte) int {
	if len(text) > 0 && text[0] == '&' {
		for _, e := range [...]string{"&quot;", "&#34;", "&#39;", "&#x27;", "&apos;"} {
			if hasFold(text, e) {
				return len(e)
			}
		}
	}
	return 0
}

// adorned skips what stands between an operator and its value at i: blanks, colours, bold, and anchors and tags of YAML.
func adorned(text []byte, i int) int {
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
		n := 1 + nameChars.run(text[i+1:], 64)
		if text[i] == '!' {
			n = 2 + nameChars.run(text[i+2:], 64)
		}
		if blanks := spaces(text[i+n:]); n > 1 && blanks > 0 {
			i += n + blanks
		}
	}
	return i
}

// newline returns the length of the line end in front of text, which may be that of a string within this one.
func newline(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("\r\n")), bytes.HasPrefix(text, []byte(`\n`)):
		return 2
	case len(text) > 0 && text[0] == '\n':
		return 1
	}
	return 0
}

// lineStart returns where the first word stands of the line at i: behind the number and the sign that a listing or a comparison puts
// before it.
func lineStart(text []byte, i int) int {
	rest := text[i:min(len(text), i+64)]
	n := listing(rest)
	if n == 0 && len(rest) > 0 && (rest[0] == '+' || rest[0] == '-') {
		n = 1
	}
	return i + n + spaces(text[i+n:])
}

// below finds the value at i of "password: |" or "password = <<EOT": the line below, if it is one word.
func (s *scan) below(i int) (v span, st style, ok bool) {
	text := s.text
	n := 0
	switch {
	case i < len(text) && (text[i] == '|' || text[i] == '>'):
		for n = 1; i+n < len(text) && bytes.IndexByte([]byte("+-123456789"), text[i+n]) >= 0; n++ {
		}
	case bytes.HasPrefix(text[i:], []byte("<<")):
		n = 2
		for n < 6 && i+n < len(text) && bytes.IndexByte([]byte(`-~"'`), text[i+n]) >= 0 {
			n++
		}
		n += nameChars.run(text[i+n:], 32)
		n += spaces(text[i+n:])
		for i+n < len(text) && quote(text[i+n]) {
			n++
		}
	}
	if n == 0 {
		return v, st, false
	}
	i += n + spaces(text[i+n:])
	end := newline(text[i:])
	if end == 0 {
		return v, st, false
	}
	i = lineStart(text, i+end)
	n = visibleLine.run(text[i:], maxValue)
	if k := bytes.Index(text[i:i+n], []byte(`\n`)); k >= 0 {
		n = k
	}
	return span{start: i, end: i + n}, line, n > 0 && endsLine(text[i+n:])
}

// nextLine finds the value that stands on the line below, whose end is at i: between quotes, or as a word that no person would write. A
// line of dashes may stand between the two.
func (s *scan) nextLine(i int) (v span, st style, ok bool) {
	text := s.text
	i = lineStart(text, i+newline(text[i:]))
	if bytes.HasPrefix(text[i:], []byte("---")) || bytes.HasPrefix(text[max(0, i-1):], []byte("---")) {
		for i < len(text) && text[i] == '-' {
			i++
		}
		n := newline(text[i:])
		if n == 0 {
			return v, st, false
		}
		i = lineStart(text, i+n)
	} else if bytes.HasPrefix(text[i:], []byte("string(")) {
		if n := indexByte(text[i:min(len(text), i+24)], ')'); n > 0 {
			i += n + 1
			return s.literal(i + spaces(text[i:]))
		}
	}
	if v, st, ok = s.literal(i); ok {
		return v, st, ok
	}
	n := lineRun(text[i:])
	return span{start: i, end: i + n}, line, n > 0 && strong(text[i:i+n]) && endsLine(text[i+n:])
}

// entry finds the value in "- name: DB_PASSWORD" with "value: ..." on the line below. i is behind the name.
func (s *scan) entry(start, i int) (v span, st style, ok bool) {
	text := s.text
	before := bytes.TrimRight(text[:start], ` "'\`)
	if !bytes.HasSuffix(before, []byte("name:")) && !bytes.HasSuffix(before, []byte("key:")) {
		return v, st, false
	}
	i = lineStart(text, i+newline(text[i:]))
	if !bytes.HasPrefix(text[i:], []byte("value:")) {
		return v, st, false
	}
	i += len("value:")
	i += spaces(text[i:])
	if v, st, ok = s.literal(i); ok {
		return v, st, ok
	}
	n := visibleLine.run(text[i:], maxValue)
	if k := bytes.Index(text[i:i+n], []byte(`\n`)); k >= 0 {
		n = k
	}
	return span{start: i, end: i + n}, line, n > 0 && endsLine(text[i+n:])
}

// inner finds the value in {"type": "string", "value": "..."}, or in { default = "..." }, of which i is behind the bracket.
func (s *scan) inner(i int) (v span, st style, ok bool) {
	text := s.text
	rest := text[i:min(len(text), i+240)]
	if n := indexByte(rest, '}'); n >= 0 {
		rest = rest[:n]
	}
	for _, name := range [...]string{"value", "Value", "default"} {
		n := bytes.Index(rest, []byte(name))
		if n < 0 {
			continue
		}
		at, _, _ := behind(text, i+n+len(name))
		if at += spaces(text[at:]); at < len(text) && (text[at] == ':' || text[at] == '=') {
			return s.literal(at + 1 + spaces(text[at+1:]))
		}
	}
	return v, st, false
}

// cell finds the value in the cell at i of a table.
func (s *scan) cell(i int) (v span, st style, ok bool) {
	text := s.text
	for i < len(text) && bytes.IndexByte([]byte(" `*\"'"), text[i]) >= 0 {
		i++
	}
	n := unquotedChars.run(text[i:], maxValue)
	end := i + n
	for end > i && text[end-1] == '*' {
		end--
	}
	return span{start: i, end: end}, loose, end > i
}

// cellOf reports whether text ends where the cell of a table begins.
func cellOf(text []byte) bool {
	text = bytes.TrimRight(text[max(0, len(text)-32):], " `*\"'")
	return bytes.HasSuffix(text, []byte("|")) || bytes.HasSuffix(text, []byte("│"))
}

// list finds the strings of the list at i, each of which is a value, and takes those that are plausible.
func (s *scan) list(i int, kind string) {
	for range 32 {
		i += spaces(s.text[i:])
		for newline(s.text[i:]) > 0 {
			i = lineStart(s.text, i+newline(s.text[i:]))
		}
		v, st, ok := s.literal(i)
		if !ok {
			return
		}
		if plausible(kind, s.text[v.start:v.end], st) {
			s.found(v.start, v.end, kind)
		}
		for i = v.end; i < len(s.text) && closers.has(s.text[i]) && i < v.end+6; i++ {
		}
		if i == len(s.text) || s.text[i] != ',' {
			return
		}
		i++
	}
}

// items finds the items of a list in YAML that begins on the line behind i.
func (s *scan) items(i int, kind string) {
	for range 32 {
		n := newline(s.text[i:])
		if n == 0 {
			return
		}
		i = lineStart(s.text, i+n)
		if !bytes.HasPrefix(s.text[i:], []byte("- ")) {
			return
		}
		i += 2
		v, st, ok := s.literal(i)
		if !ok {
			n := visibleLine.run(s.text[i:], maxValue)
			if k := bytes.Index(s.text[i:i+n], []byte(`\n`)); k >= 0 {
				n = k
			}
			v, st = span{start: i, end: i + n}, line
		}
		if v.end > v.start && plausible(kind, s.text[v.start:v.end], st) {
			s.found(v.start, v.end, kind)
		}
		for i = v.end; i < len(s.text) && closers.has(s.text[i]) && newline(s.text[i:]) == 0; i++ {
		}
	}
}

// plural says what kind of secrets a list of that name holds, "" for none.
func plural(name []byte) string {
	if n := len(name); n > 4 && lower[name[n-1]] == 's' {
		return secretName(name[:n-1])
	}
	return ""
}

// setter reports whether a function of that name is given a secret to keep.
func setter(name []byte) bool {
	var words nameWords
	words.split(name)
	for i := range words.count {
		switch string(words.at(i)) {
		case "set", "with", "use":
			return true
		}
	}
	return false
}

// directive reports whether a line that begins with such a name goes on with a password.
func directive(name []byte) bool {
	switch string(bytes.ToLower(name)) {
	case "requirepass", "masterauth", "bindpw", "rootpw", "-setcookie":
		return true
	}
	return false
}

// strong reports whether value is as mixed as only what a machine made is.
func strong(value []byte) bool {
	t := traitsOf(value)
	return t.digits > 1 && t.lower > 1 && (t.upper > 1 || t.digits > 3 && t.lower > 3 && len(value) >= 20) && random(value)
}

// braced finds the value at i that stands between brackets: {value}; as ODBC has it, [[value]] as Lua has it.
func braced(text []byte, i int) (v span, ok bool) {
	open, end := 1, byte('}')
	switch {
	case bytes.HasPrefix(text[i:], []byte("[[")):
		open, end = 2, ']'
	case text[i] != '{':
		return v, false
	}
	n := unquotedChars.run(text[i+open:], 128)
	at := i + open + n
	if n == 0 || at+1 >= len(text) || text[at] != end || text[at+1] != ';' && text[at+1] != end {
		return v, false
	}
	return span{start: i + open, end: at}, true
}
