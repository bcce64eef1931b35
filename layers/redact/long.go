package redact

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A piece of a long text is scanned together with behind bytes before it and Ahead bytes after it. A secret longer than
// Ahead, or one whose name is more than behind bytes before it, may be missed: see docs/formats.md.
const (
	Ahead  = 128 << 10
	behind = 4 << 10
)

// A Long cleans a line, or a file that is not a transcript, in pieces. Consecutive lines of a file that are not JSON are
// one text, so that a private key or a manifest of many lines is found. The zero value is at the start of a file.
type Long struct {
	Line   bool   // it is one line
	json   bool   // the line is JSON
	before []byte // the end of the cleaned raw bytes, after a quote if it begins inside a string of JSON
}

// Redact replaces the secrets in raw[:at], which continues the previous call, and returns the number of bytes of raw that
// are clean: about at, more if a secret crosses it. The rest of raw is context, at least [Ahead] bytes if raw is not the
// end of the text. In a file, at is the end of a line.
func (l *Long) Redact(r Rules, raw []byte, at int, numbered *Numbers) (clean []byte, cuts []Cut, n int) {
	if !r.Any() {
		return raw[:at], nil, at
	}
	if head := bytes.TrimLeft(raw, " \t\r"); l.Line && l.before == nil && len(head) > 0 {
		l.json = head[0] == '{' || head[0] == '['
	}
	last := at == len(raw)
	value, limit := l.frame(raw, last)
	start, end := len(l.before), min(len(l.before)+at, limit)
	if l.Line && !last {
		end = between(value, end)
	}
	parts := texts(value)
	if l.json {
		parts = func(yield func(int, int) bool) { yield(0, len(value)) }
	}
	var spans []Span
	for from, to := range parts {
		if from >= end {
			break
		}
		if to <= start {
			continue
		}
		for _, s := range r.spans(value[from:to], l.json, numbered) {
			s.Start, s.End = s.Start+from, min(s.End+from, limit)
			if s.Quote && (s.Start < start || s.End == limit && !last) {
				continue // a part of a number
			}
			s.Start = max(s.Start, start)
			if s.Start < s.End && (s.Start < end || goesOn(spans, value, s, end)) {
				spans, end = append(spans, s), max(end, s.End)
			}
		}
	}
	if n = end - start; last {
		n = len(raw)
	}
	l.keep(value, end)
	if len(spans) == 0 {
		return raw[:n], nil, n
	}
	clean, cuts = render(value[:end], spans, numbered)
	return append(clean[start:], raw[end-start:n]...), Shift(cuts, -int64(start)), n
}

// frame returns raw after the end of the previous piece, and the offset of the end of raw in it. Strings of JSON are
// closed. What may be half a character or escape at the end is left out, and so is the line end of JSON.
func (l *Long) frame(raw []byte, last bool) (value []byte, limit int) {
	switch {
	case !last:
		raw = raw[:between(raw, len(raw)-1)]
	case l.json:
		raw = bytes.TrimSuffix(raw, []byte("\n"))
	}
	if len(l.before) == 0 && !l.json {
		return raw, len(raw)
	}
	value = append(append(make([]byte, 0, len(l.before)+len(raw)+1), l.before...), raw...)
	limit = len(value)
	if l.json && inString(value) {
		value = append(value, '"')
	}
	return value, limit
}

// keep stores the end of value[:end] for the next piece, in a file from the start of a line if possible.
func (l *Long) keep(value []byte, end int) {
	from := max(0, end-behind)
	if from > 0 {
		from = between(value, from)
		if n := bytes.IndexByte(value[from:end], '\n') + 1; n > 0 && from+n < end {
			from += n
		}
	}
	before := value[from:end]
	if l.json && inString(value[:from]) {
		before = slices.Concat([]byte(`"`), before)
	}
	l.before = append([]byte{}, before...)
}

// goesOn reports whether s is the next line of the secret of the last span: a secret of several lines has a span in each.
func goesOn(spans []Span, value []byte, s Span, end int) bool {
	if len(spans) == 0 || s.Start < end {
		return false
	}
	last := spans[len(spans)-1]
	return last.Rule == s.Rule && len(bytes.Trim(value[last.End:s.Start], "\r\n")) == 0
}

// inString reports whether the JSON text b ends inside a string.
func inString(b []byte) bool {
	for {
		n := bytes.IndexByte(b, '"')
		if n < 0 {
			return false
		}
		end, closed := endOfString(b, n+1)
		if !closed {
			return true
		}
		b = b[end+1:]
	}
}

// between returns the last offset up to at that is not inside a character or an escape of b.
func between(b []byte, at int) int {
	for range utf8.UTFMax - 1 {
		if at > 0 && at < len(b) && !utf8.RuneStart(b[at]) {
			at--
		}
	}
	from := max(0, at-len(`\u0000`))
	n := bytes.LastIndexByte(b[from:at], '\\') + 1
	if slashes := from + n - len(bytes.TrimRight(b[:from+n], `\`)); n == 0 || slashes%2 == 0 {
		return at
	}
	return from + n - 1
}
