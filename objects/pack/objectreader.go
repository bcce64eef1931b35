package pack

import (
	"crypto/sha1"
	"fmt"
	"hash"
	"io"
)

// An objectReader reads one object and verifies it at its end.
type objectReader struct {
	z     io.ReadCloser
	close func() error
	sum   hash.Hash
	id    ID
	left  int64
}

func newObjectReader(z io.ReadCloser, s entryHeader, id ID, close func() error) *objectReader {
	st := &objectReader{z: z, close: close, sum: sha1.New(), id: id, left: s.size}
	st.sum.Write(preamble(s.kind, s.size))
	return st
}

func (s *objectReader) Read(p []byte) (int, error) {
	if s.left == 0 {
		if err := checkEnd(s.z); err != nil {
			return 0, fmt.Errorf("read %s: %w", s.id, err)
		}
		if got := ID(s.sum.Sum(nil)); got != s.id {
			return 0, fmt.Errorf("read %s: content has the name %s: %w", s.id, got, ErrCorrupt)
		}
		return 0, io.EOF
	}
	n, err := s.z.Read(p[:min(int64(len(p)), s.left)])
	s.sum.Write(p[:n])
	s.left -= int64(n)
	if err == io.EOF && s.left == 0 {
		return n, nil
	}
	if err != nil {
		return n, fmt.Errorf("read %s: %w", s.id, asCorrupt(err))
	}
	return n, nil
}

func (s *objectReader) Close() error { return s.close() }
