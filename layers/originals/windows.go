package originals

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
)

// A windows looks at what is written to it, piece by piece. Pieces overlap, so that nothing that is at most so
// long as most is cut apart.
type windows struct {
	most  int
	look  func([]byte) bool
	buf   []byte
	found bool
}

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

// Done looks at the last piece and reports whether anything was found.
func (w *windows) Done() bool {
	w.found = w.found || w.look(w.buf)
	w.buf = nil
	return w.found
}

// NeedleWindows looks for needles.
func NeedleWindows(needles [][]byte) *windows {
	w := &windows{look: func(b []byte) bool { return Holds(b, needles) }}
	for _, n := range needles {
		w.most = max(w.most, len(n))
	}
	return w
}

// MatchesLine reports whether re matches a line of r, however long the lines are; size bytes of one are in
// memory. It may leave a rest unread.
func MatchesLine(re *regexp.Regexp, r io.Reader, size int) (bool, error) {
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
		if re.Match(bytes.TrimSuffix(line, Newline)) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
	}
}

// restOfLine reads up to the end of a line, which it takes and does not hand out.
type restOfLine struct {
	in    *bufio.Reader
	ended bool
	last  bool // nothing comes after it, not even a line break
}

func (r *restOfLine) Read(p []byte) (int, error) {
	if r.ended {
		return 0, io.EOF
	}
	if _, err := r.in.Peek(1); err != nil {
		r.ended, r.last = err == io.EOF, err == io.EOF
		return 0, err
	}
	b, _ := r.in.Peek(min(len(p), r.in.Buffered())) // which is there
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
