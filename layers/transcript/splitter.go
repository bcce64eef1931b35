package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A splitter finds the values of a stream that arrives in pieces of any size. It keeps the line that is not ended.
type splitter struct {
	line []byte // the bytes of the line that are not in a value yet
	off  int64  // the offset of line
}

// A piece is a value found by a [splitter]: its offset and its bytes, which are valid until the next call.
type piece struct {
	off    int64
	raw    []byte
	opaque bool
}

// feed reads b and calls emit for the values of each line that it ends, until emit returns false.
func (s *splitter) feed(b []byte, emit func(piece) bool) bool {
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n')
		if n < 0 {
			s.line = append(s.line, b...)
			return true
		}
		line := b[:n]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		if _, ok := splitLine(line, true, s.pieces(emit)); !ok {
			return false
		}
		s.off += int64(len(line)) + 1
		s.line, b = s.line[:0], b[n+1:]
	}
	return true
}

// close calls emit for the values of the open line that nothing can change any more, or, if the stream ends, for all.
func (s *splitter) close(ended bool, emit func(piece) bool) {
	n, _ := splitLine(s.line, ended, s.pieces(emit))
	s.off, s.line = s.off+int64(n), append([]byte(nil), s.line[n:]...)
}

// pieces returns a function that calls emit with the piece at an offset in a line that begins at s.off.
func (s *splitter) pieces(emit func(piece) bool) func(at int, raw []byte, opaque bool) bool {
	return func(at int, raw []byte, opaque bool) bool { return emit(piece{s.off + int64(at), raw, opaque}) }
}

// splitLine calls emit for the values of a line without its line end, until emit returns false. It returns the offset up
// to which nothing can change any more; ended says that the line ends here.
func splitLine(b []byte, ended bool, emit func(at int, raw []byte, opaque bool) bool) (closed int, ok bool) {
	for {
		start := space(b, closed)
		if start == len(b) {
			return start, true
		}
		n, bad := 0, 0 // the length of the object at start, or what is invalid in it
		if b[start] == '{' {
			n, bad = object(b[start:])
		}
		if n > 0 {
			if !emit(start, b[start:start+n], false) {
				return start, false
			}
			closed = start + n
			continue
		}
		at, n := start, 0 // an object in the torn line, which is a value if the line or another object follows
		for end := 0; bad >= 0; {
			if at = candidate(b, at, at+bad); at < 0 {
				break
			}
			if n, bad = object(b[at:]); n == 0 {
				continue
			}
			if end = space(b, at+n); end == len(b) || b[end] == '{' {
				break
			}
			bad, n = end-at, 0
		}
		switch {
		case n > 0 && space(b, at+n) < len(b):
			closed = at + n
		case !ended:
			return start, true
		case n > 0:
			closed = len(b)
		default:
			return len(b), emit(start, b[start:], true)
		}
		if !emit(start, b[start:at], true) || !emit(at, b[at:at+n], false) {
			return start, false
		}
	}
}

// candidate returns where an object may begin after the invalid byte bad of the object at from, -1 if nowhere: its brace is
// this byte or one of the two before it. Within a string, the open string of the torn record ends with the first quote
// after the brace, and the key that follows is the error.
func candidate(b []byte, from, bad int) int {
	for g := bad; g >= bad-2; g-- {
		if g > from && g < len(b) && b[g] == '{' {
			return g
		}
	}
	if n := bytes.IndexByte(b[bad:], '{'); n >= 0 {
		return bad + n
	}
	return -1
}

// object returns the length of the JSON object at the start of b. It is 0 if there is none; then bad is the offset of the
// invalid byte, or -1 if the object is not complete.
func object(b []byte) (n, bad int) {
	bad = -1
	if whole := bytes.TrimRight(b, " \t\r"); json.Valid(whole) {
		n = len(whole)
	} else {
		var raw json.RawMessage
		d := json.NewDecoder(bytes.NewReader(b))
		var syntax *json.SyntaxError
		if err := d.Decode(&raw); err == nil {
			n = int(d.InputOffset())
		} else if errors.As(err, &syntax) {
			bad = int(syntax.Offset) - 1
		}
	}
	read := b
	if n > 0 {
		read = b[:n]
	} else if bad >= 0 {
		read = b[:bad]
	}
	if deep := tooDeep(read); deep >= 0 {
		return 0, deep
	}
	return n, bad
}

// tooDeep returns the offset of the first bracket in the beginning of an object that is nested deeper than [MaxDepth], -1 if
// there is none.
func tooDeep(b []byte) int {
	if bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("[")) <= MaxDepth {
		return -1
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}
