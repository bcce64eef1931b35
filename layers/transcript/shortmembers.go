package transcript

import "slices"

// maxShortMember is the maximum length of a member, from its key to its end, that is kept although it ends after the
// limit.
const maxShortMember = 4 << 10

// A shortMembers keeps the short members of an object that end after the limit of a [head]. A record exceeds the limit
// because of a few long values, and important short members may follow them.
type shortMembers struct {
	of    int64             // the offset of the object
	n     int               // the number of its members examined
	text  [maxFields][]byte // of each member, starting at its key; nil if it is not kept
	open  []byte            // the bytes of the open member before those being fed
	start int64             // the offset of open
}

// keep copies the members that end in p, which lies within the object and was fed, and the beginning of the next
// member.
func (l *shortMembers) keep(h *head, p []byte) {
	m := &h.s.m
	if l.of != h.s.cand {
		l.of, l.n, l.open = h.s.cand, 0, l.open[:0]
	}
	for ; l.n < m.n; l.n++ {
		l.text[l.n] = slices.Clone(l.member(h, p, l.of, m.fields[l.n]))
	}
	from := l.of + m.cur.k0
	if m.n > 0 && m.cur == m.fields[m.n-1] || from >= h.s.off { // no member is open
		l.open = l.open[:0]
		return
	}
	if from >= h.base {
		l.open, l.start, p = l.open[:0], from, p[from-h.base:]
	} else if l.start != from || len(l.open) == 0 {
		return // it is too long
	}
	l.open = append(l.open, p[:min(maxShortMember-len(l.open), len(p))]...)
}

// held returns member i of the object at of, if it was kept.
func (l *shortMembers) held(of int64, i int) []byte {
	if l.of != of || i >= l.n {
		return nil
	}
	return l.text[i]
}

// member returns a member of the object at of, starting at its key, if it ends in p and is short.
func (l *shortMembers) member(h *head, p []byte, of int64, f field) []byte {
	from, to := of+f.k0, of+f.v1
	switch {
	case f.v1-f.k0 > maxShortMember || f.v1 <= int64(h.limit) || to <= h.base:
		return nil
	case from >= h.base:
		return p[from-h.base : to-h.base]
	case l.of != of || l.start != from || len(l.open) == 0:
		return nil
	}
	return slices.Concat(l.open, p[:to-h.base])
}
