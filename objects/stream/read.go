package stream

import (
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
)

// Blobs returns the stored bytes of the i-th segment of a stream, counted from 0.
type Blobs func(i int) ([]byte, error)

// A Reader reads the first n segments of a stream. Each segment is checked against its hash before
// any of its bytes are returned, so a caller never sees wrong content; the error then wraps [objects.ErrCorrupt].
type Reader struct {
	blobs   Blobs
	n, i    int
	end     int64
	hash    *objects.Hasher
	current []byte // the current segment
	history []byte // at least the bytes before the next segment that its dictionary may contain
	rest    []byte // unread part of the current segment
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

// Sum returns the name of the content of the segments read so far.
func (r *Reader) Sum() objects.Hash { return r.hash.Sum() }

// Hasher returns a copy of the hash state of the segments read so far, to continue from there.
func (r *Reader) Hasher() *objects.Hasher { return r.hash.Clone() }

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
	const extra = 64 // capacity after the content, with which the decoder is faster
	dst := slices.Grow(r.current[:0], int(h.Length)+extra)
	raw, err := decode(h, frame, r.history[int64(len(r.history))-h.Dict:], dst)
	if err != nil {
		return fmt.Errorf("segment %d: %w: %w", r.i, err, objects.ErrCorrupt)
	}
	r.hash.Write(raw)
	if r.hash.Sum() != h.Sum {
		return fmt.Errorf("segment %d: %w", r.i, objects.ErrCorrupt)
	}
	r.current, r.rest = raw, raw
	if len(r.history)+len(raw) > 2*MaxDict { // so that it is seldom moved
		r.history = r.history[:copy(r.history, r.history[max(0, len(r.history)-MaxDict):])]
	}
	r.history = append(r.history, raw[max(0, len(raw)-MaxDict):]...)
	r.end = h.End()
	r.i++
	return nil
}

// decode appends the content of a segment to dst. It never unpacks more than the capacity of dst, whatever the frames
// declare.
func decode(h Head, frame, dict, dst []byte) ([]byte, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxSegment),
		zstd.WithDecoderMaxWindow(window), zstd.WithDecodeAllCapLimit(true)}
	if len(dict) > 0 {
		opts = append(opts, zstd.WithDecoderDictRaw(0, dict))
	}
	d, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	raw, err := d.DecodeAll(frame, dst)
	if err != nil {
		return nil, err // the error of the decoder is the cause
	}
	if int64(len(raw)) != h.Length {
		return nil, fmt.Errorf("%d bytes, want %d", len(raw), h.Length)
	}
	return raw, nil
}
