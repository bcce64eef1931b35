package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// headName is the name of the head: a checksum and JSON.
const headName = "head"

// encode returns the bytes of a head.
func (h *Head) encode() ([]byte, error) {
	b, err := json.Marshal(h)
	return append(binary.LittleEndian.AppendUint32(nil, sum(b)), b...), err
}

// decodeHead decodes the output of encode.
func decodeHead(b []byte) (*Head, error) {
	b, err := checked(b)
	h := &Head{}
	if err == nil {
		err = json.Unmarshal(b, h)
	}
	if err != nil {
		return nil, ErrDamaged
	}
	return h, nil
}

// ReadHead reads the head of the index in dir. The error wraps [fs.ErrNotExist] if there is no index, or [ErrDamaged].
func ReadHead(dir string) (*Head, error) {
	b, err := os.ReadFile(filepath.Join(dir, headName))
	if err != nil {
		return nil, err
	}
	return decodeHead(b)
}

// A Reader is an index that is open for reading. It is a snapshot: later updates do not change it.
type Reader struct {
	*Head
	Open []*Segment // of Segments

	temporary string // the directory, if the index is deleted when it is closed
}

// Temporary builds an index and opens it, for one that cannot be written where it belongs. Close deletes it.
func Temporary(plan Plan) (*Reader, error) {
	dir, err := os.MkdirTemp("", "mem-search-*")
	if err != nil {
		return nil, err
	}
	r := &Reader{}
	if err = Update(dir, plan, func() bool { return true }); err == nil {
		r, err = Open(dir, nil)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	r.temporary = dir
	return r, nil
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
	if r.Open = nil; r.temporary != "" {
		os.RemoveAll(r.temporary) // what remains is in the directory for temporary files
	}
}
