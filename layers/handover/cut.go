package handover

import (
	"strings"
	"unicode/utf8"
)

// ellipsis stands where a text was cut.
const ellipsis = " …"

// Cut returns the beginning of a text as one line of at most so many bytes, ending behind a sentence or a
// clause where there is one.
func Cut(s string, most int) string {
	if len(s) > 8*most {
		s = strings.ToValidUTF8(s[:8*most], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	head := s[:most-len(ellipsis)]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	for _, ends := range []string{".!?。！？", ";:,；，、"} {
		if i := lastEnd(head, ends); i > most/3 {
			return head[:i] + ellipsis
		}
	}
	if i := strings.LastIndexByte(head, ' '); i > 0 {
		head = head[:i]
	}
	return head + ellipsis
}

// lastEnd returns where the last sentence or clause of s ends, -1 if none does.
func lastEnd(s, ends string) int {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if strings.ContainsRune(ends, r) && (i == len(s) || s[i] == ' ' || r >= 0x80) {
			return i
		}
		i -= size
	}
	return -1
}
