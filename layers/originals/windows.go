package originals

import (
	"bytes"
)

// A windows calls look with overlapping windows of what is written to it. Any text of at most most bytes is in one of
// them as a whole.
type windows struct {
	most  int
	look  func([]byte) bool
	buf   []byte
	found bool
}

// WindowSize is the size of a window in bytes, without the overlap.
const WindowSize = 1 << 20

func (w *windows) Write(b []byte) (int, error) {
	if w.found {
		return len(b), nil
	}
	n := len(b)
	for len(b) > 0 {
		if w.buf == nil {
			w.buf = make([]byte, 0, WindowSize+w.most)
		}
		k := min(len(b), cap(w.buf)-len(w.buf))
		w.buf, b = append(w.buf, b[:k]...), b[k:]
		if len(w.buf) < cap(w.buf) {
			break
		}
		if w.found = w.look(w.buf); w.found {
			break
		}
		w.buf = append(w.buf[:0], w.buf[len(w.buf)-max(0, w.most-1):]...)
	}
	return n, nil
}

// Done checks the last window and reports whether look found anything.
func (w *windows) Done() bool {
	w.found = w.found || w.look(w.buf)
	w.buf = nil
	return w.found
}

// Windows returns a writer whose Done reports whether look found anything in what was written. look finds texts of at
// most the given length.
func Windows(most int, look func([]byte) bool) *windows { return &windows{most: most, look: look} }

// NeedleWindows returns a writer whose Done reports whether one of the needles was written.
func NeedleWindows(needles [][]byte) *windows {
	w := Windows(0, func(b []byte) bool { return Holds(b, needles) })
	for _, n := range needles {
		w.most = max(w.most, len(n))
	}
	return w
}

// A lines calls match with the lines of what is written to it, without their line ends, until one matches.
type lines struct {
	match func(line []byte) bool
	rest  []byte // of the line that has not ended
	found bool
}

func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	for !l.found {
		line, after, ended := bytes.Cut(b, Newline)
		if !ended || len(l.rest) > 0 {
			l.rest = append(l.rest, line...)
			line = l.rest
		}
		if !ended {
			break
		}
		l.found, l.rest, b = l.match(line), l.rest[:0], after
	}
	return n, nil
}

// Done checks the last line and reports whether one matched.
func (l *lines) Done() bool { return l.found || l.match(l.rest) }

// Lines returns a writer whose Done reports whether match matched a line of what was written.
func Lines(match func(line []byte) bool) *lines { return &lines{match: match} }
