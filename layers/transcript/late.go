package transcript

import "slices"

// maxLate is how long a member may be, from its key to its end, to be held although it ends behind the limit.
const maxLate = 4 << 10

// A late holds the short members of an object that end behind the limit of a [head]. The values that make a
// record longer than that are few, and what is asked of the record may stand behind them.
type late struct {
	of    int64             // where the object starts
	n     int               // how many of its members were looked at
	text  [maxFields][]byte // of each, from its key on; nil if it is not held
	open  []byte            // what came before the bytes being fed of the member that is not closed yet
	start int64             // where open starts
}

// keep copies the members that close in p, which was fed and ends within the object, and the beginning of the next.
func (l *late) keep(h *head, p []byte) {
	m := &h.s.m
	if l.of != h.s.cand {
		l.of, l.n, l.open = h.s.cand, 0, l.open[:0]
	}
	for ; l.n < m.n; l.n++ {
		l.text[l.n] = slices.Clone(l.member(h, p, l.of, m.fields[l.n]))
	}
	from := l.of + m.cur.k0
	if m.n > 0 && m.cur == m.fields[m.n-1] || from >= h.s.off { // none has begun
		l.open = l.open[:0]
		return
	}
	if from >= h.base {
		l.open, l.start, p = l.open[:0], from, p[from-h.base:]
	} else if l.start != from || len(l.open) == 0 {
		return // it began long ago
	}
	l.open = append(l.open, p[:min(maxLate-len(l.open), len(p))]...)
}

// held returns member i of the object at of, if it was kept.
func (l *late) held(of int64, i int) []byte {
	if l.of != of || i >= l.n {
		return nil
	}
	return l.text[i]
}

// member returns a member, from its key on, of the object at of, if it closes in p and is one to be held.
func (l *late) member(h *head, p []byte, of int64, f field) []byte {
	from, to := of+f.k0, of+f.v1
	switch {
	case f.v1-f.k0 > maxLate || f.v1 <= int64(h.limit) || to <= h.base:
		return nil
	case from >= h.base:
		return p[from-h.base : to-h.base]
	case l.of != of || l.start != from || len(l.open) == 0:
		return nil
	}
	return slices.Concat(l.open, p[:to-h.base])
}
