package transcript

// A piece is a value found by a [splitter], as absolute offsets.
type piece struct {
	start, end int64
	opaque     bool
	fields     []field // of an object, relative to start; valid until the next byte is fed
}

type phase uint8

const (
	between phase = iota // in white space between values
	inside               // in an object that may turn out to be torn
	lost                 // in an opaque value, looking for an object after it
	pending              // after an object in a torn line: the next bytes decide
)

// A splitter finds the values of a stream that arrives in pieces of any size. It reads each byte once (the two before
// an error twice) and stores only offsets.
type splitter struct {
	m       machine
	phase   phase
	torn    bool    // the open value is opaque; an object may end it
	off     int64   // bytes fed
	start   int64   // of the open value
	cand    int64   // start of the object being read; differs from start in a torn line
	candEnd int64   // of the pending object
	last    [2]byte // the two bytes before off
}

// closed returns the offset up to which nothing can change any more.
func (s *splitter) closed() int64 {
	if s.phase == between {
		return s.off
	}
	return s.start
}

// feed reads b and calls emit for each value that it closes, until emit returns false.
func (s *splitter) feed(b []byte, emit func(piece) bool) bool {
	base := s.off
	at := func(i int) byte { // i may be -1 or -2: the bytes before b
		if i >= 0 {
			return b[i]
		}
		return s.last[2+i]
	}
	i := 0
	for i < len(b) {
		ok := true
		switch s.phase {
		case between:
			i, ok = s.skip(b, i, base)
		case inside:
			n, v := s.m.feed(b[i:])
			i += n
			switch v {
			case done:
				ok = s.complete(base+int64(i), emit)
			case bad:
				ok, i = s.broken(i, base, at, emit)
			}
		case lost:
			for i < len(b) && b[i] != '{' && b[i] != '\n' {
				i++
			}
			if i == len(b) {
				break
			}
			if b[i] == '{' {
				s.open(base + int64(i))
				break
			}
			ok = s.tornEnd(base+int64(i), emit)
			i++
		case pending:
			ok, i = s.decide(b, i, base, emit)
		}
		if !ok {
			return false
		}
	}
	s.off = base + int64(len(b))
	if n := len(b); n >= 2 {
		s.last = [2]byte{b[n-2], b[n-1]}
	} else if n == 1 {
		s.last = [2]byte{s.last[1], b[0]}
	}
	return true
}

// finish ends the stream and its last line.
func (s *splitter) finish(emit func(piece) bool) {
	switch s.phase {
	case inside, lost:
		s.tornEnd(s.off, emit)
	case pending:
		s.accept(emit)
		s.phase = between
	}
}

// skip skips white space and opens the next value.
func (s *splitter) skip(b []byte, i int, base int64) (int, bool) {
	for i < len(b) {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
			i++
			continue
		case '{':
			s.start, s.torn = base+int64(i), false
			s.open(s.start)
		default:
			s.start, s.torn = base+int64(i), true
			s.phase = lost
		}
		break
	}
	return i, true
}

// open starts an object at off.
func (s *splitter) open(off int64) {
	s.cand, s.phase = off, inside
	s.m.reset()
}

// complete handles the end of an object.
func (s *splitter) complete(end int64, emit func(piece) bool) bool {
	if s.torn {
		s.candEnd, s.phase = end, pending
		return true
	}
	s.phase = between
	return emit(piece{start: s.start, end: end, fields: s.m.fields[:s.m.n]})
}

// broken handles an invalid byte in an object: the line is torn. If another object starts in it, its brace is this
// byte or one of the two before: within a string, the open string of the torn record ends with the first quote after
// the brace, and the key that follows is the error.
func (s *splitter) broken(i int, base int64, at func(int) byte, emit func(piece) bool) (bool, int) {
	if at(i) == '\n' {
		return s.tornEnd(base+int64(i), emit), i + 1
	}
	s.torn = true
	for g := i; g >= i-2; g-- {
		if base+int64(g) <= s.cand || at(g) != '{' {
			continue
		}
		s.open(base + int64(g))
		for ; g < i; g++ {
			if _, v := s.m.feed([]byte{at(g)}); v != more {
				s.phase = lost
				return true, i + 1
			}
		}
		return true, i
	}
	s.phase = lost
	return true, i
}

// decide handles the byte after an object in a torn line. The object is a value only if the end of the line or
// another object follows: after an object that is a part of the torn one there is a comma or a bracket.
func (s *splitter) decide(b []byte, i int, base int64, emit func(piece) bool) (bool, int) {
	switch b[i] {
	case ' ', '\t', '\r':
		return true, i + 1
	case '\n':
		ok := s.accept(emit)
		s.phase = between
		return ok, i + 1
	case '{':
		ok := s.accept(emit)
		s.start, s.torn = base+int64(i), false
		s.open(s.start)
		return ok, i
	}
	s.phase = lost
	return true, i
}

// accept closes the torn part and the object after it.
func (s *splitter) accept(emit func(piece) bool) bool {
	return emit(piece{start: s.start, end: s.cand, opaque: true}) &&
		emit(piece{start: s.cand, end: s.candEnd, fields: s.m.fields[:s.m.n]})
}

// tornEnd closes a torn line.
func (s *splitter) tornEnd(end int64, emit func(piece) bool) bool {
	s.phase = between
	return emit(piece{start: s.start, end: end, opaque: true})
}
