package lexical

import (
	"regexp/syntax"
	"strings"
)

// Before is the maximum distance from the start of a match to its keyword. The match of an assignment starts with its
// keyword.
const Before = 200

// MaxReach is the number of bytes that a pattern searches at first. It searches further if a match reaches the end.
const MaxReach = 4 << 10

// LeastOfGroup returns the minimum length in bytes of the first group of re. It is 0 if there is no group, if the
// group is optional, or if it may contain a blank.
func LeastOfGroup(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpAlternate, syntax.OpQuest, syntax.OpStar, syntax.OpRepeat:
		return 0 // the group may be missing
	case syntax.OpCapture:
		if blankless(re.Sub[0]) {
			return shortest(re.Sub[0])
		}
		return 0
	}
	for _, sub := range re.Sub {
		if sub.MaxCap() > 0 {
			return LeastOfGroup(sub)
		}
	}
	return 0
}

// blankless reports whether no match of re contains a blank or a control character.
func blankless(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return re.Rune[0] > ' ' && !strings.ContainsAny(string(re.Rune), " \t\r\n")
	case syntax.OpCharClass:
		return len(re.Rune) > 0 && re.Rune[0] > ' '
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	}
	for _, sub := range re.Sub {
		if !blankless(sub) {
			return false
		}
	}
	return true
}

// shortest returns the minimum length of a match in bytes.
func shortest(re *syntax.Regexp) (n int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * shortest(re.Sub[0])
	case syntax.OpAlternate:
		n = shortest(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			n = min(n, shortest(sub))
		}
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			n += shortest(sub)
		}
	}
	return n
}

// HoldsWord reports whether text contains n consecutive bytes without a blank.
func HoldsWord(text []byte, n int) bool {
	for i := n - 1; i < len(text); {
		k := i
		for k > i-n && text[k] > ' ' {
			k--
		}
		if k == i-n {
			return true
		}
		i = k + n
	}
	return false
}

// Longest returns the maximum length of a match in bytes, at most MaxReach.
func Longest(re *syntax.Regexp) int {
	sum := 0
	switch re.Op {
	case syntax.OpLiteral:
		return 4 * len(re.Rune)
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 && re.Rune[n-1] < 0x80 {
			return 1
		}
		return 4
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpStar, syntax.OpPlus:
		return MaxReach
	case syntax.OpRepeat:
		if re.Max < 0 {
			return MaxReach
		}
		return min(MaxReach, re.Max*Longest(re.Sub[0]))
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			sum = max(sum, Longest(sub))
		}
	default:
		for _, sub := range re.Sub {
			sum += Longest(sub)
		}
	}
	return min(MaxReach, sum)
}
