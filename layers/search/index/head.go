package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	headMagic = "memhead\x02"
	headName  = "head"
)

// encode returns the bytes of a head.
func (h *Head) encode() []byte {
	b := appendString([]byte(headMagic), h.Key)
	b = appendUint(b, len(h.Segments))
	for _, r := range h.Segments {
		b = appendUint(appendUint(appendString(b, r.Name), r.Docs), int(r.Size))
	}
	b = append(appendUint(appendUint(b, h.Sessions.Len()), len(h.Sessions.b)), h.Sessions.b...)
	b = appendUint(b, len(h.Spans))
	for _, s := range h.Spans {
		b = appendString(appendString(b, s.Source), s.Version)
		b = appendUint(appendUint(b, s.Session+1), s.Segment)
		b = appendUint(appendUint(appendUint(appendUint(b, s.First), s.Count), s.Words), s.ToolWords)
	}
	return binary.LittleEndian.AppendUint32(b, sum(b))
}

func (s *Session) encode(b []byte) []byte {
	b = appendID(b, s.ID)
	for _, t := range []string{s.Title, s.Branch} {
		b = appendString(b, t)
	}
	b = appendString(appendID(b, s.Parent), s.Device)
	b = appendInt(appendInt(b, s.First), s.Last-s.First)
	b = appendUint(b, len(s.Topics))
	for _, t := range s.Topics {
		b = appendString(b, t)
	}
	b = appendUint(b, len(s.Marks))
	for _, m := range s.Marks {
		b = appendUint(appendUint(b, m.N), m.Weight)
	}
	return b
}

func (s *Session) decode(d *decoder) {
	s.ID, s.Title, s.Branch, s.Parent, s.Device = d.id(), d.string(), d.string(), d.id(), d.string()
	s.First = d.int()
	s.Last = s.First + d.int()
	for range d.count() {
		s.Topics = append(s.Topics, d.string())
	}
	for range d.count() {
		s.Marks = append(s.Marks, Mark{d.small(), d.small()})
	}
}

// sessions reads the list of sessions and checks its lengths, but does not decode the sessions.
func (d *decoder) sessions() (l Sessions) {
	l.at = make([]int, 0, d.count())
	n := d.count()
	l.b = d.fixed(n)
	for each := (decoder{b: l.b}); len(l.at) < cap(l.at) && !each.failed; {
		size := each.count()
		l.at = append(l.at, n-len(each.b))
		each.fixed(size)
		d.failed = d.failed || each.failed
	}
	return l
}

// decodeHead decodes the output of encode. Source and Version of the spans are read only if named is set: queries
// do not need them.
func decodeHead(b []byte, named bool) (*Head, error) {
	n := len(b) - 4
	if n < len(headMagic) || string(b[:len(headMagic)]) != headMagic || binary.LittleEndian.Uint32(b[n:]) != sum(b[:n]) {
		return nil, ErrDamaged
	}
	d := &decoder{b: b[len(headMagic):n]}
	h := &Head{Key: d.string()}
	for range d.count() {
		h.Segments = append(h.Segments, Ref{d.string(), d.small(), int64(d.small())})
	}
	h.Sessions = d.sessions()
	h.Spans = make([]Span, 0, d.count())
	for range cap(h.Spans) {
		source, version := d.bytes(), d.bytes()
		s := Span{Session: d.small() - 1, Segment: d.small(), First: d.small(), Count: d.small(), Words: d.small(),
			ToolWords: d.small()}
		if named {
			s.Source, s.Version = string(source), string(version)
		}
		if s.Segment >= len(h.Segments) || s.Session >= h.Sessions.Len() || s.First+s.Count > h.Segments[s.Segment].Docs {
			return nil, ErrDamaged
		}
		if k := len(h.Spans); k > 0 && before(s, h.Spans[k-1]) {
			return nil, ErrDamaged
		}
		h.Spans = append(h.Spans, s)
	}
	if d.failed || len(d.b) > 0 {
		return nil, ErrDamaged
	}
	return h, nil
}

// before reports whether a sorts before b in the list of spans.
func before(a, b Span) bool {
	return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.First, b.First)) < 0
}

// ReadHead reads the head of the index in dir. The error wraps [fs.ErrNotExist] if there is no index, or [ErrDamaged].
func ReadHead(dir string) (*Head, error) { return readHead(dir, false) }

func readHead(dir string, named bool) (*Head, error) {
	b, err := os.ReadFile(filepath.Join(dir, headName))
	if err != nil {
		return nil, err
	}
	return decodeHead(b, named)
}

// A Reader is an index that is open for reading. It is a snapshot: later updates do not change it.
type Reader struct {
	*Head
	Open []*Segment // of Segments
}

// maxRereads is how often Open reads the head again when a writer has removed one of its segments.
const maxRereads = 8

// Open opens the index in dir. h is its head if the caller has read it already, else nil. The error wraps
// [fs.ErrNotExist] if there is no index, or [ErrDamaged].
func Open(dir string, h *Head) (*Reader, error) {
	for try := 0; ; try++ {
		var err error
		if h == nil || try > 0 {
			if h, err = ReadHead(dir); err != nil {
				return nil, err
			}
		}
		r, err := openSegments(dir, h)
		if err == nil {
			return r, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if try == maxRereads {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
}

func openSegments(dir string, h *Head) (*Reader, error) {
	r := &Reader{Head: h}
	for _, ref := range h.Segments {
		s, err := openSegment(dir, ref)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.Open = append(r.Open, s)
	}
	return r, nil
}

// Close closes the segments.
func (r *Reader) Close() {
	for _, s := range r.Open {
		s.close() // opened for reading only
	}
	r.Open = nil
}
