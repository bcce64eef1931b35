package stream

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
)

// Blobs gives the stored bytes of the i-th segment of a stream, counted from 0.
type Blobs func(i int) ([]byte, error)

// A Reader reads the first n segments of a stream. Each segment is checked against its hash before
// any of its bytes are handed out, so a reader never sees wrong content; the error then wraps
// [objects.ErrCorrupt].
type Reader struct {
	blobs  Blobs
	n, i   int
	end    int64
	hash   *objects.Hasher
	before []byte // the last bytes read from segments: the dictionary of the next one
	rest   []byte // what of the current segment was not handed out yet
}

// NewReader returns a Reader of the first n segments.
func NewReader(n int, blobs Blobs) *Reader {
	return &Reader{blobs: blobs, n: n, hash: objects.NewHasher()}
}

// Read reads content. It returns io.EOF after the last segment.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.i == r.n {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// WriteTo writes what is left to w without another copy.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for {
		n, err := w.Write(r.rest)
		total += int64(n)
		r.rest = r.rest[n:]
		if err != nil {
			return total, err
		}
		if r.i == r.n {
			return total, nil
		}
		if err := r.next(); err != nil {
			return total, err
		}
	}
}

// Close does nothing; a Reader holds nothing open.
func (r *Reader) Close() error { return nil }

// Sum returns the name of the content of the segments read so far.
func (r *Reader) Sum() objects.Hash { return r.hash.Sum() }

// Length returns how long the content of the segments read so far is.
func (r *Reader) Length() int64 { return r.end }

func (r *Reader) next() error {
	blob, err := r.blobs(r.i)
	if err != nil {
		return err
	}
	h, frame, err := ParseHead(blob)
	if err != nil {
		return fmt.Errorf("segment %d: %w: %w", r.i, err, objects.ErrCorrupt)
	}
	if h.Offset != r.end {
		return fmt.Errorf("segment %d: starts at %d, want %d: %w", r.i, h.Offset, r.end, objects.ErrCorrupt)
	}
	raw, err := decode(h, frame, r.before[int64(len(r.before))-h.Dict:])
	if err != nil {
		return fmt.Errorf("segment %d: %w: %w", r.i, err, objects.ErrCorrupt)
	}
	r.hash.Write(raw)
	if r.hash.Sum() != h.Sum {
		return fmt.Errorf("segment %d: %w", r.i, objects.ErrCorrupt)
	}
	r.before, r.rest = keep(r.before, raw, MaxDict), raw
	r.end = h.End()
	r.i++
	return nil
}

// decode returns the content of a segment.
func decode(h Head, frame, dict []byte) ([]byte, error) {
	opts := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxSegment), zstd.WithDecoderMaxWindow(window),
	}
	if len(dict) > 0 {
		opts = append(opts, zstd.WithDecoderDictRaw(0, dict))
	}
	d, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	raw, err := d.DecodeAll(frame, make([]byte, 0, h.Length))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) != h.Length {
		return nil, fmt.Errorf("%d bytes, want %d", len(raw), h.Length)
	}
	return raw, nil
}
