package handover

import (
	"strings"
	"unicode/utf8"
)

// ellipsis marks the end of a cut text.
const ellipsis = " …"

// Cut returns the start of a text as one line of at most limit bytes. It ends after a sentence or a clause if it can.
func Cut(s string, limit int) string { return cutAt(s, limit, limit/3) }

// cutAt is [Cut], but a sentence that ends before least is no end.
func cutAt(s string, limit, least int) string {
	long := len(s) > 8*limit
	if long {
		s = strings.ToValidUTF8(s[:8*limit], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= limit && !long || s == "" {
		return s
	}
	n := min(len(s), limit-len(ellipsis))
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	head := s[:n]
	if i := lastEnd(head, ".!?。！？"); i > least {
		return head[:i] + ellipsis
	}
	if i := lastEnd(head, ";,；，、"); i > limit*2/3 { // what is gained is the end of a list, or of a remark
		return head[:i] + ellipsis
	}
	if i := strings.LastIndexByte(head, ' '); i > 0 {
		head = head[:i]
	}
	return strings.TrimRight(closed(head), " ") + ellipsis
}

// closed returns a text without what begins in a bracket that is not closed, if that is less than half of it.
func closed(s string) string {
	open := []int{}
	for i, r := range s {
		switch {
		case r == '(' || r == '[':
			open = append(open, i)
		case (r == ')' || r == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 && open[0] > len(s)/2 {
		return s[:open[0]]
	}
	return s
}

// lastEnd returns the end of the last sentence or clause in s, -1 if there is none.
func lastEnd(s, ends string) int {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if strings.ContainsRune(ends, r) && (i == len(s) || s[i] == ' ' || r >= 0x80) && stops(s[:i]) {
			return i
		}
		i -= size
	}
	return -1
}

// stops reports whether a full stop at the end of s ends a sentence: not that of an abbreviation or of dots.
func stops(s string) bool {
	if !strings.HasSuffix(s, ".") {
		return true
	}
	if strings.HasSuffix(s, "..") || len(s) == len("A.") { // dots, or the letter of an item
		return false
	}
	word := strings.ToLower(strings.TrimLeft(s[strings.LastIndexByte(s, ' ')+1:], "("))
	if word != "." && strings.Trim(word, "0123456789.") == "" && len(word) <= len("99.") {
		return false // the number of an item
	}
	switch word {
	case "vs.", "e.g.", "i.e.", "cf.", "approx.", "incl.", "resp.":
		return false
	}
	return true
}
