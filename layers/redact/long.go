package redact

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/redact/scanner"
)

// A line that is too long for memory is cleaned in windows of Window bytes. The rules also read Behind bytes before a
// window; the last Ahead bytes are cleaned with the next window. A secret longer than Ahead, or one whose name is more
// than Behind bytes before it, may be missed: see docs/formats.md.
const (
	Window = 1 << 20
	Ahead  = 128 << 10
	Behind = 4 << 10
)

// A Long cleans one line in pieces. The zero value is at the start of a line.
type Long struct {
	behind []byte // the end of the cleaned raw bytes, after a quote if it begins inside a string
	begun  bool
	text   bool   // the line is not JSON
	value  []byte // buffer
}

// Redact replaces the secrets at the beginning of raw, which continues the previous call, and returns the number of
// bytes of raw that are clean. If last is set, raw is the end of the line and is cleaned completely. Otherwise raw must
// be longer than [Ahead].
func (l *Long) Redact(r Rules, raw []byte, last bool, numbered *Numbers) (clean []byte, cuts []Cut, n int) {
	if !l.begun {
		l.begun = true
		l.text = len(bytes.TrimLeft(raw, " \t\r")) == 0 || bytes.TrimLeft(raw, " \t\r")[0] != '{'
	}
	value, start := l.frame(raw, last)
	at := start + len(raw) // the end of what is cleaned, in value
	limit := at            // of what may be cut: an escape may be incomplete
	if !last {
		at = l.boundary(value, start+len(raw)-Ahead)
	} else if bytes.HasSuffix(raw, []byte("\n")) {
		limit--
	}
	var safe scanner.Places
	if l.text {
		safe = scanner.TextPlaces(value)
	} else {
		safe = stringPlaces(value)
	}
	var spans []scanner.Span
	for _, s := range safe.Clip(value, r.findPart(value, &numbered.known)) {
		s.End = min(s.End, limit)
		if s.Start < start || s.Start >= min(at, limit) {
			continue // it belongs to the piece before or after
		}
		spans, at = append(spans, s), max(at, s.End)
		numbered.know(value[s.Start:s.End])
	}
	clean, cuts = render(value[:at], spans, numbered)
	l.keep(value, at)
	return clean[start:], Shift(cuts, -int64(start)), at - start
}

// frame returns raw after the end of the previous piece, with the quotes that close its strings, and the offset of raw
// in it.
func (l *Long) frame(raw []byte, last bool) (value []byte, start int) {
	value = append(slices.Grow(l.value[:0], len(l.behind)+len(raw)+2), l.behind...)
	start = len(value)
	value = append(value, raw...)
	if slashes := len(value) - len(bytes.TrimRight(value, `\`)); !l.text && !last && slashes%2 == 1 {
		value = value[:len(value)-1] // half an escape
	}
	if !l.text && openAt(value, len(value)) {
		value = append(value, '"')
	}
	l.value = value
	return value, start
}

// openAt reports whether value[:end] ends inside a string.
func openAt(value []byte, end int) bool {
	for i := 0; ; {
		n := bytes.IndexByte(value[i:end], '"')
		if n < 0 {
			return false
		}
		close, ok := scanner.EndOfString(value[:end], i+n+1)
		if !ok {
			return true
		}
		i = close + 1
	}
}

// boundary returns the first offset from at on that is not inside a character or an escape.
func (l *Long) boundary(value []byte, at int) int {
	for at < len(value) && !utf8.RuneStart(value[at]) {
		at++
	}
	if l.text {
		return at
	}
	back := at
	for back > 0 && at-back < 16 && value[back-1] != '\\' {
		back--
	}
	if at-back == 16 || back == 0 {
		return at
	}
	first := back - 1 // a backslash, within an escape of at most 12 bytes
	for first > 0 && value[first-1] == '\\' {
		first--
	}
	if (back-first)%2 == 0 {
		return at // it is escaped itself
	}
	if size := escapeSize(value[back-1:]); back-1+size > at {
		return back - 1 + size
	}
	return at
}

func escapeSize(b []byte) int {
	_, n := scanner.Unescape(b)
	return max(n, 2)
}

// keep stores the end of value[:at] for the next piece, after a quote if it begins inside a string.
func (l *Long) keep(value []byte, at int) {
	from := max(0, at-Behind)
	if from > 0 {
		from = min(l.boundary(value, from), at)
	}
	open := !l.text && openAt(value, from)
	l.behind = l.behind[:0] // its content is in value
	if open {
		l.behind = append(l.behind, '"')
	}
	l.behind = append(l.behind, value[from:at]...)
}

// stringPlaces returns the contents of the strings of value.
func stringPlaces(value []byte) scanner.Places {
	p := scanner.Places{Json: true}
	for i := 0; ; {
		n := bytes.IndexByte(value[i:], '"')
		if n < 0 {
			return p
		}
		end, ok := scanner.EndOfString(value, i+n+1)
		p.List = append(p.List, scanner.Place{Start: i + n + 1, End: end, Number: false})
		if !ok {
			return p
		}
		i = end + 1
	}
}
