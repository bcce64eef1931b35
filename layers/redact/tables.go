package redact

import (
	"bytes"
)

// maxHead is the maximum length of the head of a table.
const maxHead = 4 << 10

// A grid is the layout of a table.
type grid struct {
	newline string // the line end, which is escaped in a nested string
	between string // between cells; empty for two or more blanks
	kinds   []string
	style   Style
}

// table treats the line around the name text[start:end] as the head of a table, if it looks like one, and finds the
// secrets in the rows below. It handles CSV, Markdown, and the output of databases and tools with bars or blanks
// skipBlanks columns.
func (s *Scan) table(start, end int) {
	if start < s.tableEnd {
		return
	}
	text := s.Text
	g, ok := gridAt(text, start, end)
	if !ok {
		return
	}
	from, to, ok := g.line(text, start, end)
	if !ok {
		if to-from > maxHead {
			s.tableEnd = end + maxHead/4 // of this line nothing more is looked at here
		}
		return
	}
	s.tableEnd = to
	s.cells = g.split(text, from, to, s.cells[:0])
	for i := 1; i < len(s.cells)-1; i++ {
		if c := s.cells[i]; !heading(text[c.Start:c.End]) {
			return
		}
	}
	g.kinds = s.kinds[:0]
	named, secret := 0, false
	for i, c := range s.cells {
		cell := text[c.Start:c.End]
		switch {
		case i == 0:
			cell = cell[nameStart(cell):]
		case i == len(s.cells)-1:
			if n := bytes.IndexByte(cell, '"'); n >= 0 { // behind the string
				cell = bytes.TrimRight(cell[:n], `\`)
			}
		}
		if !heading(cell) {
			return
		}
		kind := secretName(cell)
		if len(cell) > 0 {
			named++
		}
		g.kinds, secret = append(g.kinds, kind), secret || kind != ""
	}
	s.kinds = g.kinds
	if secret && named > 1 {
		s.tableEnd = max(to, s.rows(&g, to))
	}
}

// gridAt returns the layout of a table if the name text[start:end] may be in its head.
func gridAt(text []byte, start, end int) (g grid, ok bool) {
	g = grid{newline: "\n", style: Quoted}
	i, _, _ := skipClosers(text, end)
	if hasFold(text[end:], `\t`) || hasFold(text[end:], `\r`) {
		i = end
	}
	n := spaces(text[i:])
	if n < 2 && i+n < len(text) && text[i] != '\t' && !besideCell.Has(text[i+n]) {
		return g, false
	}
	for _, between := range [...]string{"|", "│", ",", ";", "\t", `\t`} {
		if bytes.HasPrefix(text[i:], []byte(between)) || bytes.HasPrefix(text[i+n:], []byte(between)) {
			g.between = between
			return g, true
		}
	}
	if last := i+n == len(text) || Newline(text[i+n:]) > 0 || hasFold(text[i+n:], `\r`); !last && n < 2 {
		return g, false
	}
	before := bytes.TrimRight(text[:start], "\"'`*\\")
	before = bytes.TrimRight(before[max(0, len(before)-64):], " ")
	for _, between := range [...]string{"|", "│", ",", ";", "\t", `\t`} {
		if bytes.HasSuffix(before, []byte(between)) {
			g.between = between
			return g, true
		}
	}
	g.style = loose
	return g, n > 1 || start > 1 && text[start-1] == ' ' && text[start-2] == ' '
}

// besideCell are the bytes that may follow a cell.
var besideCell = setOf("|,;\t\r\n\\\xe2")

// line returns the bounds of the line around text[start:end], without its line end.
func (g *grid) line(text []byte, start, end int) (from, to int, ok bool) {
	from, to = max(0, start-maxHead), min(len(text), end+maxHead)
	if n := bytes.IndexByte(text[end:to], '\n'); n >= 0 {
		to = end + n
	}
	if n := bytes.Index(text[end:to], []byte(`\n`)); n >= 0 {
		to, g.newline = end+n, `\n`
		if n := bytes.LastIndex(text[from:start], []byte(`\n`)); n >= 0 {
			from += n + len(`\n`)
		}
	}
	if n := bytes.LastIndexByte(text[from:start], '\n'); n >= 0 {
		from += n + 1
	}
	return from, to, to-from <= maxHead && to < len(text)
}

// split appends the bounds of the cells of the line text[from:to], without the blanks and quotes around them.
func (g *grid) split(text []byte, from, to int, cells []Span) []Span {
	if g.between == "" {
		for i := from; i < to; {
			n := blanks.Run(text[i:to], to)
			start := i + n
			for i = start; i < to && (text[i] != ' ' || i+1 < to && text[i+1] != ' ') && text[i] != '\t'; i++ {
			}
			if i > start {
				cells = append(cells, trimCell(text, start, i))
			}
		}
		return cells
	}
	for i := from; ; {
		n := bytes.Index(text[i:to], []byte(g.between))
		if q := i + spaces(text[i:to]); n >= 0 && (g.between == "," || g.between == ";") && q < to &&
			(text[q] == '"' || text[q] == '\\') {
			n = g.closed(text[i:to], q-i, n)
		}
		if n < 0 || len(cells) > 256 {
			return append(cells, trimCell(text, i, to))
		}
		cells = append(cells, trimCell(text, i, i+n))
		i += n + len(g.between)
	}
}

// closed returns the offset of the separator after a quoted cell, whose opening quote is cell[q]. n is the offset of
// the next separator.
func (g *grid) closed(cell []byte, q, n int) int {
	mark := []byte(`"` + g.between)
	if k := bytes.Index(cell[q+1:], mark); k >= 0 {
		return q + 1 + k + 1
	}
	if cell[len(cell)-1] == '"' {
		return -1
	}
	return n
}

var blanks = setOf(" \t")

// trimCell returns the bounds of text[start:end] without blanks, quotes and other marks around it.
func trimCell(text []byte, start, end int) Span {
	const around = " \t\r\"'`*\\"
	for end > start && bytes.IndexByte([]byte(around), text[end-1]) >= 0 || end-1 > start && text[end-1] == 'r' &&
		text[end-2] == '\\' {
		end--
	}
	for start < end && bytes.IndexByte([]byte(around), text[start]) >= 0 {
		start++
	}
	return Span{Start: start, End: end}
}

// nameStart returns the start of the name in the first cell of a line, after a quote or a line number.
func nameStart(cell []byte) int {
	n := 0
	if len(cell) > 0 && cell[0] == '-' {
		n = 1
	}
	if unmarked.Run(cell, len(cell)) == len(cell) {
		return n
	}
	for _, mark := range [...]string{`"`, "→", "\t", `\t`, ":", "> ", "| ", "+"} {
		if k := bytes.LastIndex(cell, []byte(mark)); k >= 0 {
			n = max(n, k+len(mark))
		}
	}
	return n
}

// unmarked are the bytes that do not occur in such a mark.
var unmarked = func() (v byteSet) {
	for c := range 256 {
		if bytes.IndexByte([]byte("\"\xe2\t\\:>|+"), byte(c)) < 0 {
			v[c>>6] |= 1 << (c & 63)
		}
	}
	return v
}()

// heading reports whether a cell may be in the head of a table.
func heading(cell []byte) bool {
	return len(cell) <= 48 && headingChars.Run(cell, 48) == len(cell) && bytes.Count(cell, []byte(" ")) < 5
}

var headingChars = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-./ #%?:*@\"\xc2\xa0")

// rows finds the secrets in the rows of g after i, and returns the end of the table.
func (s *Scan) rows(g *grid, i int) int {
	text := s.Text
	for {
		if !bytes.HasPrefix(text[i:], []byte(g.newline)) {
			return i
		}
		from := i + len(g.newline)
		to := len(text)
		if n := bytes.Index(text[from:], []byte(g.newline)); n >= 0 {
			to = from + n
		}
		if ruler(text[from:to]) {
			i = to
			continue
		}
		s.cells = g.split(text, from, to, s.cells[:0])
		if n := len(s.cells) - len(g.kinds); n == 1 && Digits.Run(text[s.cells[0].Start:s.cells[0].End],
			8) == s.cells[0].End-s.cells[0].Start {
			s.cells = s.cells[1:] // behind the number of the line
		} else if n != 0 {
			return i
		}
		for k, c := range s.cells {
			s.cellOf(g, k, c)
		}
		if i = to; i == len(text) {
			return i
		}
	}
}

// cellOf reports the cell c of column k if it may be a secret.
func (s *Scan) cellOf(g *grid, k int, c Span) {
	if g.kinds[k] == "" {
		return
	}
	if bytes.ContainsAny(s.Text[c.Start:c.End], "(") && g.between == "," {
		return // code
	}
	if k == 0 { // behind the number or sign of the line
		c.Start += c.End - c.Start - Visible.RunBack(s.Text[c.Start:c.End], maxValue)
		c.Start = max(c.Start, min(c.End, lineStart(s.Text, c.Start)))
	}
	if k == len(g.kinds)-1 { // before what closes the string
		if n := bytes.IndexByte(s.Text[c.Start:c.End], '"'); n >= 0 {
			c = trimCell(s.Text, c.Start, c.Start+n)
		}
	}
	if value := s.Text[c.Start:c.End]; Plausible(g.kinds[k], value, g.style) && !camelCase(value) &&
		(g.kinds[k] == "password" || !dashedWords(value)) {
		s.found(c.Start, c.End, g.kinds[k])
	}
}

// camelCase reports whether value is an identifier of several words.
func camelCase(value []byte) bool {
	t := traitsOf(value)
	return t.Digits+t.Symbols == 0 && CaseChanges(value) < 2
}

// ruler reports whether a line consists of the lines that tables are drawn with.
func ruler(line []byte) bool {
	drawn := false
	for i := lineNumberLen(line); i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\\' || c == 'r' && i > 0 && line[i-1] == '\\' || c == '>':
			i++
		case c == '-' || c == '+' || c == '=' || c == '|' || c == ':':
			drawn = true
			i++
		case c == 0xe2 && i+2 < len(line) && (line[i+1] == 0x94 || line[i+1] == 0x95):
			drawn = true
			i += 3
		default:
			return false
		}
	}
	return drawn
}

// sqlInsert finds the values that an SQL INSERT stores in columns with names of secrets.
func (s *Scan) sqlInsert(at int, w *word) {
	text := s.Text
	from := at + len(w.text)
	open := bytes.IndexByte(text[from:min(len(text), from+160)], '(')
	if at < s.tableEnd || open < 0 {
		return
	}
	from += open + 1
	to := bytes.IndexByte(text[from:min(len(text), from+maxHead)], ')')
	if to < 0 || !s.columns(from, from+to) {
		return
	}
	i := s.skipBlanks(from + to + 1)
	if !hasFold(text[i:], "values") {
		return
	}
	for i += len("values"); ; {
		i = s.skipBlanks(i)
		if i < len(text) && text[i] == ',' {
			i = s.skipBlanks(i + 1)
		}
		if i >= len(text) || text[i] != '(' {
			break
		}
		end, ok := s.tuple(i + 1)
		if i = end; !ok {
			break
		}
	}
	s.tableEnd = max(s.tableEnd, i)
}

// columns sets s.kinds to the kinds of the column names in text[from:to], and reports whether any is a secret.
func (s *Scan) columns(from, to int) (secret bool) {
	s.kinds = s.kinds[:0]
	for name := range bytes.SplitSeq(s.Text[from:to], []byte(",")) {
		kind := ""
		if len(name) <= 96 {
			kind = secretName(name)
		}
		s.kinds, secret = append(s.kinds, kind), secret || kind != ""
	}
	return secret
}

// skipBlanks returns the offset after the blanks and line ends at i.
func (s *Scan) skipBlanks(i int) int {
	for i < len(s.Text) {
		n := spaces(s.Text[i:]) + Newline(s.Text[i:])
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// tuple scans the values at i up to the closing bracket, and returns the offset after it.
func (s *Scan) tuple(i int) (end int, ok bool) {
	text := s.Text
	for k := 0; ; k++ {
		i = s.skipBlanks(i)
		v, _, quoted1 := s.literal(i)
		if quoted1 {
			if k < len(s.kinds) && s.kinds[k] != "" && Plausible(s.kinds[k], text[v.Start:v.End], Quoted) {
				s.found(v.Start, v.End, s.kinds[k])
			}
			i = v.End
		}
		n := bytes.IndexAny(text[i:min(len(text), i+maxHead)], ",)")
		if n < 0 {
			return i, false
		}
		if i += n + 1; text[i-1] == ')' {
			return i, true
		}
	}
}
