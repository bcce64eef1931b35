package lexical

import (
	"regexp/syntax"
	"strings"
)

// Before is how far in front of its keyword a match may start; that of one which assigns starts with it.
const Before = 200

// MaxReach bounds how much text one look with a pattern takes, before it is seen to be too little.
const MaxReach = 4 << 10

// LeastOfGroup returns how many bytes the first group of re has at least; 0 if there is none, or none in some
// matches, or it may hold a blank.
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

// blankless reports whether no match of re holds a blank or a control character.
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

// shortest returns how many bytes a match has at least.
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

// HoldsWord reports whether text holds n bytes in a row without a blank between them.
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

// Longest returns how many bytes a match can have at most, or maxReach.
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
