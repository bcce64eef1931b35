package index

import (
	"bytes"
	"io"
)

// An inMemory is a segment file in memory.
type inMemory struct{ io.ReaderAt }

func (inMemory) Close() error { return nil }

// Overlay opens an index that matches plan without writing to dir, for an index that cannot be written. It uses the
// segments in dir for the sources whose version is unchanged and builds a segment of the others in memory. An error of
// a source is returned.
func Overlay(dir string, plan Plan) (*Reader, error) {
	old, err := readHead(dir, true)
	if err != nil {
		old = &Head{}
	}
	r, err := openSegments(dir, old)
	if err != nil {
		old, r = &Head{}, &Reader{}
	}
	var file bytes.Buffer
	u := &updater{plan: plan, old: old, b: newBuilder(&file)}
	if err := u.gather(); err != nil {
		r.Close()
		return nil, err
	}
	docs := u.b.docs()
	size, err := u.b.finish()
	if err != nil {
		r.Close()
		return nil, err
	}
	s := &Segment{f: inMemory{bytes.NewReader(file.Bytes())}, from: -1}
	if err := s.open(size); err != nil {
		r.Close()
		return nil, err
	}
	u.addSegment(Ref{Docs: docs, Size: size})
	sortSpans(u.head.Spans)
	return &Reader{Head: u.head, Open: append(r.Open, s)}, nil
}
