package redact

import "bytes"

// unseen are the characters of no width.
var unseen = [...]string{"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"}

// hidden returns the length of the character of no width in front of text.
func hidden(text []byte) int {
	if len(text) > 2 && text[0] >= 0xe2 {
		for _, h := range unseen {
			if bytes.HasPrefix(text, []byte(h)) {
				return len(h)
			}
		}
	}
	return 0
}

// hides notes that the text holds a character of no width.
func (s *scan) hides(int, *word) { s.hiding = true }

// uncovered scans the text without its characters of no width.
func (s *scan) uncovered(inner *scan) {
	s.plain, s.where = s.plain[:0], s.where[:0]
	for i := 0; i < len(s.text); {
		if n := hidden(s.text[i:]); n > 0 {
			i += n
			continue
		}
		s.plain, s.where = append(s.plain, s.text[i]), append(s.where, i)
		i++
	}
	for _, f := range inner.run(s.plain, s.depth+1) {
		s.found(s.where[f.start], s.where[f.end-1]+1, f.rule)
	}
}

// minLine is the shortest line of base64 that others of the same block stand below.
const minLine = 40

// lines appends to s.joined the base64 of text[start:end] with that of the lines below that go on with it, notes in s.where where each
// character stands, and returns where the block ends.
func (s *scan) lines(start, end int) int {
	s.joined, s.where = s.joined[:0], s.where[:0]
	add := func(from, to int) {
		s.joined = append(s.joined, s.text[from:to]...)
		for i := from; i < to; i++ {
			s.where = append(s.where, i)
		}
	}
	add(start, end)
	if end-start < minLine {
		return end
	}
	for {
		n := newline(s.text[end:])
		if hasFold(s.text[end:], `\r\n`) {
			n = len(`\r\n`)
		}
		if n == 0 {
			return end
		}
		from := lineStart(s.text, end+n)
		to := from + base64.run(s.text[from:], len(s.text))
		if to-from < minLine {
			if to > from && to-from >= 4 && (to == len(s.text) || s.text[to] == '=' || endsLine(s.text[to:])) {
				add(from, to)
				end = to
			}
			return end
		}
		add(from, to)
		end = to
	}
}

// tail finds the end of a private key whose beginning is not there. at is where "-----END" stands.
func (s *scan) tail(at int, w *word) {
	text := s.text
	head := text[at:min(len(text), at+80)]
	label := head[len(w.text):]
	if n := bytes.Index(label, []byte("-----")); n < 0 || !bytes.Contains(label[:n], []byte("PRIVATE KEY")) {
		return
	}
	start, body := at, 0
	for i := at; ; {
		end := len(bytes.TrimRight(text[:i], " #+>|*/"))
		switch n := numberOf(text[:end]); {
		case n < end:
			end = n
		case end > 0 && text[end-1] == '\n':
			end--
		case bytes.HasSuffix(text[:end], []byte(`\n`)):
			end -= 2
		default:
			end = 0
		}
		line := bytes.TrimRight(text[:end], "\r=")
		k := base64.runBack(line, 100)
		if k > 0 && k < len(line) && line[len(line)-k-1] == '\\' {
			k-- // of \n
		}
		if k < 16 || k > 80 || bytes.Contains(line[len(line)-k:], []byte("-----")) {
			break
		}
		i = len(line) - k
		start, body = i, body+k
	}
	if body >= 64 && random(text[start:at]) {
		s.found(start, at, "private-key")
	}
}

// numberOf returns where the line ends before the number that a listing puts in front of a line and that text ends with, or len(text).
func numberOf(text []byte) int {
	end := len(text)
	for _, mark := range [...]string{"→", "\t"} {
		if bytes.HasSuffix(text, []byte(mark)) {
			end -= len(mark)
			d := digits.runBack(text[:end], 8)
			t := bytes.TrimRight(text[:end-d], " ")
			if d > 0 && len(t) > 0 && t[len(t)-1] == '\n' {
				return len(t) - 1
			}
		}
	}
	return len(text)
}
