package transcript

import "math/bits"

// A state is where a [machine] stands in the grammar of JSON.
type state uint8

const (
	stOpen     state = iota // before the '{' of the value itself
	stObjFirst              // behind '{'
	stKey                   // behind ',' in an object
	stColon                 // behind a key
	stValue                 // behind ':' or behind ',' in an array
	stArrFirst              // behind '['
	stAfter                 // behind a value
	stString
	stEscape
	stHex
	stLiteral
	stMinus
	stZero
	stInt
	stDot
	stFrac
	stExp
	stExpSign
	stExpInt
)

// A verdict is what a [machine] says of the bytes it was fed.
type verdict uint8

const (
	more verdict = iota // all fine, not complete
	done                // the object is complete
	bad                 // this byte cannot be here
)

// A field is one member of the top-level object: offsets of the key without its quotes and of the value.
type field struct{ k0, k1, v0, v1 int64 }

// maxFields is how many members of a value a [machine] remembers. Real records have at most 25.
const maxFields = 48

// A machine checks one JSON object and may be stopped and fed on at any byte. On the way it notes where the members
// of the top-level object lie, so that nobody has to walk the bytes a second time.
type machine struct {
	state  state
	key    bool   // the string being read is a key
	lit    string // what is left of true, false or null
	hex    int    // digits left of a \u escape
	depth  int
	object [MaxDepth / 64]uint64 // one bit a level: it is an object
	pos    int64                 // bytes fed
	fields [maxFields]field
	n      int
	cur    field
}

// reset makes m ready for another object.
func (m *machine) reset() {
	m.state, m.depth, m.pos, m.n = stOpen, 0, 0, 0
}

// feed reads b. It returns how many bytes are fine and, with done, included or, with bad, followed by the byte at
// fault. It is one loop over the states of nearly all bytes: a call for each would take half as long again.
func (m *machine) feed(b []byte) (int, verdict) {
	i, st := 0, m.state
	at, end, mask := 0, 0, uint64(0) // the special bytes from byte at to byte end
	for i < len(b) {
		c, ok := b[i], true
		switch st {
		case stString:
			for {
				if i >= end {
					at, end, mask = i, min(i+stride, len(b)), specials(b[i:])
				}
				if left := mask >> uint(i-at); left != 0 {
					i += bits.TrailingZeros64(left)
					break
				}
				if i = end; i == len(b) {
					return m.stop(i, st), more
				}
			}
			switch c = b[i]; {
			case c == '"':
				st = m.closeString(i)
			case c != '\\':
				return m.stop(i, st), bad
			case i+1 < len(b) && simpleEscape[b[i+1]]:
				i++
			default:
				st = stEscape
			}
		case stAfter:
			switch {
			case c == ',':
				st = stValue
				if m.inObject() {
					st = stKey
				}
			case c == '}' && m.inObject(), c == ']' && !m.inObject():
				if m.close(i) {
					return m.stop(i+1, stAfter), done
				}
			case !blank(c):
				return m.stop(i, st), bad
			}
		case stKey, stObjFirst:
			if st, ok = m.member(c, st, i); ok && m.depth == 0 {
				return m.stop(i+1, stAfter), done
			}
		case stColon:
			if c == ':' {
				st = stValue
			}
			ok = c == ':' || blank(c)
		case stValue, stArrFirst:
			st, ok = m.value(c, st, i)
		case stOpen:
			st, ok = stObjFirst, c == '{' && m.push(true)
		default:
			var again bool
			if st, again, ok = m.scalar(st, c, i); again {
				continue
			}
		}
		if !ok {
			return m.stop(i, st), bad
		}
		i++
	}
	return m.stop(i, st), more
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// member reads a byte where a key may begin.
func (m *machine) member(c byte, st state, i int) (next state, ok bool) {
	switch {
	case c == '"':
		m.key = true
		if m.depth == 1 {
			m.cur.k0 = m.pos + int64(i) + 1
		}
		return stString, true
	case c == '}' && st == stObjFirst:
		m.close(i)
		return stAfter, true
	}
	return st, blank(c)
}

// close ends the object or array whose last byte is byte i of what is being fed, and reports whether that is the
// whole value.
func (m *machine) close(i int) bool {
	m.depth--
	m.closeValue(i + 1)
	return m.depth == 0
}

// stop notes where feed came to a halt.
func (m *machine) stop(i int, st state) int {
	m.pos += int64(i)
	m.state = st
	return i
}

func (m *machine) inObject() bool {
	return m.object[(m.depth-1)>>6]>>((m.depth-1)&63)&1 == 1
}

// push opens a level and reports whether it may be that deep.
func (m *machine) push(object bool) bool {
	if m.depth == MaxDepth {
		return false
	}
	bit := uint64(1) << (m.depth & 63)
	if object {
		m.object[m.depth>>6] |= bit
	} else {
		m.object[m.depth>>6] &^= bit
	}
	m.depth++
	return true
}

// closeString ends the string whose closing quote is byte i of what is being fed.
func (m *machine) closeString(i int) state {
	if m.key {
		if m.depth == 1 {
			m.cur.k1 = m.pos + int64(i)
		}
		return stColon
	}
	m.closeValue(i + 1)
	return stAfter
}

// closeValue notes a member of the top-level object whose value ends before byte i of what is being fed.
func (m *machine) closeValue(i int) {
	if m.depth == 1 && m.n < maxFields {
		m.cur.v1 = m.pos + int64(i)
		m.fields[m.n] = m.cur
		m.n++
	}
}

// value reads a byte where a value may begin.
func (m *machine) value(c byte, st state, i int) (next state, ok bool) {
	if blank(c) {
		return st, true
	}
	if c == ']' && st == stArrFirst {
		m.close(i)
		return stAfter, true
	}
	if m.depth == 1 {
		m.cur.v0 = m.pos + int64(i)
	}
	switch {
	case c == '"':
		m.key = false
		return stString, true
	case c == '{' && m.push(true):
		return stObjFirst, true
	case c == '[' && m.push(false):
		return stArrFirst, true
	case c == 't':
		m.lit = "rue"
		return stLiteral, true
	case c == 'f':
		m.lit = "alse"
		return stLiteral, true
	case c == 'n':
		m.lit = "ull"
		return stLiteral, true
	case c == '-':
		return stMinus, true
	case c == '0':
		return stZero, true
	case c >= '1' && c <= '9':
		return stInt, true
	}
	return st, false
}
