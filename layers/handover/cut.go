package handover

import (
	"strings"
	"unicode/utf8"
)

// ellipsis marks the end of a cut text.
const ellipsis = " …"

// Cut returns the start of a text as one line of at most limit bytes. It ends after a sentence or a clause if it can.
func Cut(s string, limit int) string {
	if len(s) > 8*limit {
		s = strings.ToValidUTF8(s[:8*limit], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= limit {
		return s
	}
	head := s[:limit-len(ellipsis)]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	for _, ends := range []string{".!?。！？", ";:,；，、"} {
		if i := lastEnd(head, ends); i > limit/3 {
			return head[:i] + ellipsis
		}
	}
	if i := strings.LastIndexByte(head, ' '); i > 0 {
		head = head[:i]
	}
	return head + ellipsis
}

// lastEnd returns the end of the last sentence or clause in s, -1 if there is none.
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
