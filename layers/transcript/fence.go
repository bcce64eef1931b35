package transcript

import "strings"

// Indent returns the length of the white space at the beginning of a line.
func Indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// FenceSign returns the sign of a fence: its first characters that are the same.
func FenceSign(line string) string {
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	return line[:n]
}

// ClosesFence reports whether a line ends the block that open begins.
func ClosesFence(line, open string) bool {
	line = strings.TrimSpace(line)
	f := FenceSign(open)
	return strings.HasPrefix(line, f) && strings.Trim(line, f[:1]) == ""
}

// ItemIndent returns the length of the white space and the signs of list items at the beginning of a line.
func ItemIndent(line string) int {
	for n := 0; ; {
		rest := strings.TrimLeft(line[n:], " \t")
		n = len(line) - len(rest)
		sign := strings.TrimLeft(rest, "0123456789")
		signs := ".)"
		if len(sign) == len(rest) {
			signs = "-*+"
		}
		if len(sign) < 2 || !strings.Contains(signs, sign[:1]) || !strings.Contains(" \t", sign[1:2]) {
			return n
		}
		n += len(rest) - len(sign) + 1
	}
}

// OpenFence returns the fence of the block of code that is open after a line, if open was open before it.
func OpenFence(open, line string) string {
	switch {
	case open != "" && ClosesFence(line, open):
		return ""
	case open == "" && IsFence(line):
		return FenceSign(line)
	}
	return open
}
