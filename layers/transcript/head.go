package transcript

// A head finds the values of a stream and holds the first bytes of the object that is not closed yet, so that an
// object can be had whole although it came in pieces. Of what is behind them it holds the short members of the object.
type head struct {
	s     splitter
	limit int     // how much of an object is held
	buf   []byte  // what came of the open object before the bytes being fed
	off   int64   // where buf starts
	base  int64   // where the bytes being fed start
	prev  [2]byte // the two bytes before them
	late  late
}

// feed splits p and calls emit for what that closes; there, raw gives the bytes. It stops when emit returns false.
func (h *head) feed(p []byte, emit func(piece) bool) bool {
	h.base, h.prev = h.s.off, h.s.last
	if !h.s.feed(p, emit) {
		return false
	}
	h.keep(p)
	return true
}

// raw returns the bytes of the object v up to the limit, while p is fed. They are valid until the next call.
func (h *head) raw(v piece, p []byte) []byte {
	if v.start >= h.base {
		return p[v.start-h.base : min(v.end-h.base, v.start-h.base+int64(h.limit))]
	}
	h.rebase(v.start)
	if room := h.limit - len(h.buf); room > 0 && v.end > h.base {
		h.buf = append(h.buf, p[:min(v.end-h.base, int64(room))]...)
	}
	return h.buf[:min(int64(len(h.buf)), v.end-v.start)]
}

// rebase makes buf start at from, which is before base. It moves only when an object was found glued to a torn one,
// and then its brace is one of the two bytes before base.
func (h *head) rebase(from int64) {
	if from != h.off {
		h.buf, h.off = append(h.buf[:0], h.prev[2-(h.base-from):]...), from
	}
}

// keep copies what p holds of an object that is not closed yet.
func (h *head) keep(p []byte) {
	if h.s.phase != inside && h.s.phase != pending {
		h.buf = h.buf[:0]
		return
	}
	if h.s.off-h.s.cand > int64(h.limit-maxLate) { // a short member that ends behind the limit begins behind this
		h.late.keep(h, p)
	}
	if from := h.s.cand; from >= h.base {
		h.buf, h.off, p = h.buf[:0], from, p[from-h.base:]
	} else {
		h.rebase(from)
	}
	if room := h.limit - len(h.buf); room > 0 {
		h.buf = append(h.buf, p[:min(room, len(p))]...)
	}
}

// member returns member i of the object v, from its key on, while p is fed, if it ends behind the limit and is short.
// It is valid until the next call.
func (h *head) member(v piece, i int, p []byte) []byte {
	if h.late.of == v.start && i < h.late.n {
		return h.late.held(v.start, i)
	}
	return h.late.member(h, p, v.start, v.fields[i])
}
