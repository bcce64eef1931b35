package term

import (
	"io"
	"unicode/utf8"
)

// A safeWriter makes text safe for a terminal on its way there. It holds back a character that is not
// complete yet.
type SafeWriter struct {
	W    io.Writer
	rest []byte
}

func (s *SafeWriter) Write(p []byte) (int, error) {
	b := append(s.rest, p...)
	cut := len(b)
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				cut = i
			}
			break
		}
	}
	s.rest = append([]byte(nil), b[cut:]...)
	if _, err := io.WriteString(s.W, Sanitize(string(b[:cut]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
