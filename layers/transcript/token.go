package transcript

import (
	"encoding/binary"
	"math/bits"
)

// scalar takes the next byte of an escape, a literal or a number. again asks to look at the byte once more in the new state.
func (m *machine) scalar(st state, c byte, i int) (next state, again, ok bool) {
	digit := c >= '0' && c <= '9'
	switch st {
	case stEscape:
		if c == 'u' {
			m.hex = 4
			return stHex, false, true
		}
		return stString, false, simpleEscape[c]
	case stHex:
		if m.hex--; m.hex == 0 {
			return stString, false, isHex(c)
		}
		return stHex, false, isHex(c)
	case stLiteral:
		if c != m.lit[0] {
			return st, false, false
		}
		if m.lit = m.lit[1:]; m.lit == "" {
			m.closeValue(i + 1)
			return stAfter, false, true
		}
		return st, false, true
	case stMinus:
		if c == '0' {
			return stZero, false, true
		}
		return stInt, false, digit
	case stDot:
		return stFrac, false, digit
	case stExp:
		if c == '+' || c == '-' {
			return stExpSign, false, true
		}
		return stExpInt, false, digit
	case stExpSign:
		return stExpInt, false, digit
	}
	switch {
	case digit && st != stZero:
		return st, false, true
	case c == '.' && (st == stInt || st == stZero):
		return stDot, false, true
	case (c == 'e' || c == 'E') && st != stExpInt:
		return stExp, false, true
	}
	m.closeValue(i)
	return stAfter, true, true
}

var simpleEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// plain returns the index of the first byte of b from i on that ends a run of ordinary string bytes: a quote, a
// backslash or a control character. It looks at eight bytes at a time.
func plain(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote := x ^ ones*'"'
		slash := x ^ ones*'\\'
		hit := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return i
}
