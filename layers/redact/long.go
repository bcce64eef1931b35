package redact

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/redact/lexical"
)

// The windows in which a line is cleaned that is too long to be held: Window bytes are looked at together, of which
// the last Ahead are only looked at, and Behind bytes before them. A secret that is longer than Ahead, or that only
// says what it is more than Behind bytes before it, may be missed; docs/formats.md says so.
const (
	Window = 1 << 20
	Ahead  = 128 << 10
	Behind = 4 << 10
)

// A Long cleans one line piece by piece. The zero value is at the start of a line.
type Long struct {
	behind []byte // the end of what was cleaned, as it was, with a quote before it if it begins inside of a string
	begun  bool
	text   bool   // the line is no JSON
	value  []byte // memory of what is looked at
}

// Redact takes the secrets out of the beginning of raw, which goes on where the last call stopped, and returns how
// much of raw it has cleaned. Last says that raw is the end of the line; then that is all of it. Otherwise raw must
// be longer than [Ahead].
func (l *Long) Redact(r Rules, raw []byte, last bool, numbered *Numbers) (clean []byte, cuts []Cut, n int) {
	if !l.begun {
		l.begun = true
		l.text = len(bytes.TrimLeft(raw, " \t\r")) == 0 || bytes.TrimLeft(raw, " \t\r")[0] != '{'
	}
	value, start := l.frame(raw, last)
	at := start + len(raw) // the end of what is cleaned, in value
	if !last {
		at = l.boundary(value, start+len(raw)-Ahead)
	}
	var safe lexical.Places
	if l.text {
		safe = lexical.TextPlaces(value)
	} else {
		safe = stringPlaces(value)
	}
	var spans []lexical.Span
	for _, s := range safe.Clip(value, r.findPart(value, &numbered.known)) {
		if s.Start < start || s.Start >= at {
			continue // it was cleaned before, or will be with the next piece
		}
		spans, at = append(spans, s), max(at, s.End)
		numbered.know(value[s.Start:s.End])
	}
	clean, cuts = render(value[:at], spans, numbered)
	l.keep(value, at)
	return clean[start:], Shift(cuts, -int64(start)), at - start
}

// frame returns raw with what is behind it, and the quotes that make the strings in it whole, and where raw
// begins there.
func (l *Long) frame(raw []byte, last bool) (value []byte, start int) {
	value = append(slices.Grow(l.value[:0], len(l.behind)+len(raw)+2), l.behind...)
	start = len(value)
	value = append(value, raw...)
	for !l.text && !last && value[len(value)-1] == '\\' {
		value = value[:len(value)-1] // half an escape
	}
	if !l.text && openAt(value, len(value)) {
		value = append(value, '"')
	}
	l.value = value
	return value, start
}

// openAt reports whether value[:end] ends inside of a string.
func openAt(value []byte, end int) bool {
	for i := 0; ; {
		n := bytes.IndexByte(value[i:end], '"')
		if n < 0 {
			return false
		}
		close, ok := lexical.EndOfString(value[:end], i+n+1)
		if !ok {
			return true
		}
		i = close + 1
	}
}

// boundary returns the first place from at on where value may be cut: between characters, and in no escape.
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
	_, n := lexical.Unescape(b)
	return max(n, 2)
}

// keep remembers the end of value[:at], with the quote that makes it whole.
func (l *Long) keep(value []byte, at int) {
	from := max(0, at-Behind)
	if from > 0 {
		from = min(l.boundary(value, from), at)
	}
	open := !l.text && openAt(value, from)
	l.behind = l.behind[:0] // value holds what was in it
	if open {
		l.behind = append(l.behind, '"')
	}
	l.behind = append(l.behind, value[from:at]...)
}

// stringPlaces are the insides of the strings of value, which are whole.
func stringPlaces(value []byte) lexical.Places {
	p := lexical.Places{Json: true}
	for i := 0; ; {
		n := bytes.IndexByte(value[i:], '"')
		if n < 0 {
			return p
		}
		end, ok := lexical.EndOfString(value, i+n+1)
		p.List = append(p.List, lexical.Place{Start: i + n + 1, End: end, Number: false})
		if !ok {
			return p
		}
		i = end + 1
	}
}
