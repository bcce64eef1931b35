package term

import (
	"io"
	"unicode/utf8"
)

// A SafeWriter sanitises text on its way to W. It buffers an incomplete UTF-8 character until the next write.
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
