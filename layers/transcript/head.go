package transcript

// A head splits a stream and buffers the first bytes of the object that is not closed yet, because an object may
// arrive in several pieces. Of the bytes after the limit it keeps only short members of the object.
type head struct {
	s            splitter
	limit        int     // the number of bytes of an object that are kept
	buf          []byte  // the bytes of the open object before those being fed
	off          int64   // the offset of buf
	base         int64   // the offset of the bytes being fed
	prev         [2]byte // the two bytes before them
	shortMembers shortMembers
}

// feed splits p and calls emit for each value that p closes; during the call, raw returns its bytes. It stops when
// emit returns false.
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

// rebase moves the start of buf to from, which is before base. This is needed only for an object after a torn one,
// whose brace is one of the two bytes before base.
func (h *head) rebase(from int64) {
	if from != h.off {
		h.buf, h.off = append(h.buf[:0], h.prev[2-(h.base-from):]...), from
	}
}

// keep copies the bytes in p of an object that is not closed yet.
func (h *head) keep(p []byte) {
	if h.s.phase != inside && h.s.phase != pending {
		h.buf = h.buf[:0]
		return
	}
	// a short member that ends after the limit begins after this offset
	if h.s.off-h.s.cand > int64(h.limit-maxShortMember) {
		h.shortMembers.keep(h, p)
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

// member returns member i of the object v, starting at its key, if it is short and ends after the limit. It is called
// while p is fed. The result is valid until the next call.
func (h *head) member(v piece, i int, p []byte) []byte {
	if h.shortMembers.of == v.start && i < h.shortMembers.n {
		return h.shortMembers.held(v.start, i)
	}
	return h.shortMembers.member(h, p, v.start, v.fields[i])
}
