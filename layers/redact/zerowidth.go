package redact

import (
	"bytes"
)

// zeroWidth notes that the text contains a zero-width character.
func (s *Scan) zeroWidth(int, *word) { s.hasZeroWidth = true }

// withoutZeroWidth scans the text without its zero-width characters.
func (s *Scan) withoutZeroWidth(inner *Scan) {
	s.plain, s.where = s.plain[:0], s.where[:0]
	for i := 0; i < len(s.Text); {
		if n := ZeroWidth(s.Text[i:]); n > 0 {
			i += n
			continue
		}
		s.plain, s.where = append(s.plain, s.Text[i]), append(s.where, i)
		i++
	}
	for _, f := range inner.Run(s.plain, s.depth+1) {
		s.found(s.where[f.Start], s.where[f.End-1]+1, f.Rule)
	}
}

// lines sets s.joined to the base64 text[start:end] and its continuation on the next lines, and s.where to the offset
// of each of its characters. It returns the end of the block.
func (s *Scan) lines(start, end int) int {
	s.joined, s.where = s.joined[:0], s.where[:0]
	add := func(from, to int) {
		s.joined = append(s.joined, s.Text[from:to]...)
		for i := from; i < to; i++ {
			s.where = append(s.where, i)
		}
	}
	add(start, end)
	if end-start < minLine {
		return end
	}
	for {
		n := Newline(s.Text[end:])
		if hasFold(s.Text[end:], `\r\n`) {
			n = len(`\r\n`)
		}
		if n == 0 {
			return end
		}
		from := lineStart(s.Text, end+n)
		to := from + Base64.Run(s.Text[from:], len(s.Text))
		if to-from < minLine {
			if to > from && to-from >= 4 && (to == len(s.Text) || s.Text[to] == '=' || endsLine(s.Text[to:])) {
				add(from, to)
				end = to
			}
			return end
		}
		add(from, to)
		end = to
	}
}

// privateKeyEnd finds the end of a private key whose beginning is missing. at is the offset of "-----END".
func (s *Scan) privateKeyEnd(at int, w *word) {
	text := s.Text
	head := text[at:min(len(text), at+80)]
	label := head[len(w.text):]
	if n := bytes.Index(label, []byte("-----")); n < 0 || !bytes.Contains(label[:n], []byte("PRIVATE KEY")) {
		return
	}
	start, body := at, 0
	for i := at; ; {
		end := len(bytes.TrimRight(text[:i], " #+>|*/"))
		switch n := beforeLineNumber(text[:end]); {
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
		k := Base64.RunBack(line, 100)
		if k > 0 && k < len(line) && line[len(line)-k-1] == '\\' {
			k-- // of \n
		}
		if k < 16 || k > 80 || bytes.Contains(line[len(line)-k:], []byte("-----")) {
			break
		}
		i = len(line) - k
		start, body = i, body+k
	}
	if body >= 64 && Random(text[start:at]) {
		s.found(start, at, "private-key")
	}
}
