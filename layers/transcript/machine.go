package transcript

import "math/bits"

// A state is the position of a [machine] in the grammar of JSON.
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

// A verdict is the result of feeding bytes to a [machine].
type verdict uint8

const (
	more verdict = iota // valid so far, not complete
	done                // the object is complete
	bad                 // the next byte is invalid
)

// A field is one member of the top-level object: the offsets of the key without its quotes, and of the value.
type field struct{ k0, k1, v0, v1 int64 }

// maxFields is the maximum number of members that a [machine] records. Real records have at most 25.
const maxFields = 48

// A machine validates one JSON object incrementally. It also records the offsets of the members of the top-level
// object, so that no second pass over the bytes is necessary.
type machine struct {
	state  state
	key    bool   // the string being read is a key
	lit    string // the rest of true, false or null
	hex    int    // digits left of a \u escape
	depth  int
	object [MaxDepth / 64]uint64 // one bit per level: set for an object, clear for an array
	pos    int64                 // bytes fed
	fields [maxFields]field
	n      int
	cur    field
}

// reset prepares m for another object.
func (m *machine) reset() {
	m.state, m.depth, m.pos, m.n = stOpen, 0, 0, 0
}

// feed reads b. It returns the number of valid bytes: for done they include the closing brace, for bad the next byte
// is the invalid one. The common states are handled in one loop because a call for each byte would take half as long
// again.
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

// close ends the object or array whose last byte is byte i of the bytes being fed, and reports whether that is the
// whole value.
func (m *machine) close(i int) bool {
	m.depth--
	m.closeValue(i + 1)
	return m.depth == 0
}

// stop saves the state at the end of feed.
func (m *machine) stop(i int, st state) int {
	m.pos += int64(i)
	m.state = st
	return i
}

func (m *machine) inObject() bool {
	return m.object[(m.depth-1)>>6]>>((m.depth-1)&63)&1 == 1
}

// push opens a level and reports whether the nesting is still within [MaxDepth].
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

// closeString ends the string whose closing quote is byte i of the bytes being fed.
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

// closeValue records a member of the top-level object whose value ends before byte i of the bytes being fed.
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
