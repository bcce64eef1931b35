package originals

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
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

// MatchesLine reports whether a line of r matches: by match if the line has less than size bytes, and by re if it is
// longer. It may not read r to its end.
func MatchesLine(re *regexp.Regexp, r io.Reader, size int, match func(line []byte) bool) (bool, error) {
	in := bufio.NewReaderSize(r, size)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			rest := &restOfLine{in: in}
			long := io.MultiReader(bytes.NewReader(slices.Clone(line)), rest)
			if re.MatchReader(bufio.NewReader(long)) {
				return true, nil
			}
			if _, err := io.Copy(io.Discard, rest); err != nil || rest.last {
				return false, err
			}
			continue
		case err != nil && err != io.EOF:
			return false, err
		}
		if match(bytes.TrimSuffix(line, Newline)) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
	}
}

// A restOfLine reads the rest of a line without its line break, which it consumes.
type restOfLine struct {
	in    *bufio.Reader
	ended bool
	last  bool // the line is the last one and has no line break
}

func (r *restOfLine) Read(p []byte) (int, error) {
	if r.ended {
		return 0, io.EOF
	}
	if _, err := r.in.Peek(1); err != nil {
		r.ended, r.last = err == io.EOF, err == io.EOF
		return 0, err
	}
	b, _ := r.in.Peek(min(len(p), r.in.Buffered())) // cannot fail: it is buffered
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b, r.ended = b[:i], true
		n := copy(p, b)
		_, err := r.in.Discard(n + 1)
		return n, err
	}
	n := copy(p, b)
	_, err := r.in.Discard(n)
	return n, err
}
