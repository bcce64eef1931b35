package scanner

import (
	"regexp/syntax"
	"strings"
)

// MaxLead is the maximum distance from the start of a match to its keyword. The match of an assignment starts with its
// keyword.
const MaxLead = 200

// MaxReach is the number of bytes that a pattern searches at first. It searches further if a match reaches the end.
const MaxReach = 4 << 10

// MinGroupLen returns the minimum length in bytes of the first group of re. It is 0 if there is no group, if the
// group is optional, or if it may contain a blank.
func MinGroupLen(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpAlternate, syntax.OpQuest, syntax.OpStar, syntax.OpRepeat:
		return 0 // the group may be missing
	case syntax.OpCapture:
		if hasNoBlank(re.Sub[0]) {
			return minMatchLen(re.Sub[0])
		}
		return 0
	}
	for _, sub := range re.Sub {
		if sub.MaxCap() > 0 {
			return MinGroupLen(sub)
		}
	}
	return 0
}

// hasNoBlank reports whether no match of re contains a blank or a control character.
func hasNoBlank(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return re.Rune[0] > ' ' && !strings.ContainsAny(string(re.Rune), " \t\r\n")
	case syntax.OpCharClass:
		return len(re.Rune) > 0 && re.Rune[0] > ' '
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	}
	for _, sub := range re.Sub {
		if !hasNoBlank(sub) {
			return false
		}
	}
	return true
}

// minMatchLen returns the minimum length of a match in bytes.
func minMatchLen(re *syntax.Regexp) (n int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpPlus:
		return minMatchLen(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * minMatchLen(re.Sub[0])
	case syntax.OpAlternate:
		n = minMatchLen(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			n = min(n, minMatchLen(sub))
		}
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			n += minMatchLen(sub)
		}
	}
	return n
}

// HasWord reports whether text contains n consecutive bytes without a blank.
func HasWord(text []byte, n int) bool {
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

// MaxMatchLen returns the maximum length of a match in bytes, at most MaxReach.
func MaxMatchLen(re *syntax.Regexp) int {
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
		return min(MaxReach, re.Max*MaxMatchLen(re.Sub[0]))
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			sum = max(sum, MaxMatchLen(sub))
		}
	default:
		for _, sub := range re.Sub {
			sum += MaxMatchLen(sub)
		}
	}
	return min(MaxReach, sum)
}
