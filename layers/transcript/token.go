package transcript

import "encoding/binary"

// scalar reads the next byte of an escape, a literal or a number. again reports that the byte must be read once more
// in the new state.
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

// stride is the number of bytes that [specials] examines at once.
const stride = 64

// specials returns which of the first [stride] bytes of b end a run of ordinary string bytes, one bit each: quotes,
// backslashes and control characters. Strings of transcripts have one every ten bytes. A branch for each of them
// would often be mispredicted; this has none.
func specials(b []byte) uint64 {
	if len(b) < stride {
		var whole [stride]byte
		for i := copy(whole[:], b); i < stride; i++ {
			whole[i] = ' '
		}
		b = whole[:]
	}
	w := (*[stride]byte)(b)
	return special8(w[0:]) | special8(w[8:])<<8 | special8(w[16:])<<16 | special8(w[24:])<<24 |
		special8(w[32:])<<32 | special8(w[40:])<<40 | special8(w[48:])<<48 | special8(w[56:])<<56
}

// special8 is specials for the first eight bytes of b. With the high bit of each byte masked, an addition carries
// into that bit unless the byte is the wanted one; the product gathers the high bits.
func special8(b []byte) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	x := binary.LittleEndian.Uint64(b)
	low := x &^ highs
	other := ((low ^ ones*'"') + ones*0x7f) & ((low ^ ones*'\\') + ones*0x7f) & (low + ones*0x60)
	return (^(other | x) & highs) * 0x0002040810204081 >> 56
}
