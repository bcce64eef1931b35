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
	now    []byte // memory of the current segment
	old    []byte // and of the one before, which the next one takes
	dict   []byte // memory of before, where the current segment alone is too short for it
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
			r.release()
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

// WriteTo writes what is left to w without another copy. What w is given is good during the call alone.
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
			r.release()
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
	raw, err := decode(h, frame, r.before[int64(len(r.before))-h.Dict:], r.room(h.Length))
	if err != nil {
		return fmt.Errorf("segment %d: %w: %w", r.i, err, objects.ErrCorrupt)
	}
	r.hash.Write(raw)
	if r.hash.Sum() != h.Sum {
		return fmt.Errorf("segment %d: %w", r.i, objects.ErrCorrupt)
	}
	r.now, r.old, r.rest = raw, r.now, raw
	r.end = h.End()
	r.i++
	r.keep(raw)
	return nil
}

// spare is the room behind a content that lets the decoder write it faster.
const spare = 64

// room returns memory for n bytes that nothing refers to.
func (r *Reader) room(n int64) []byte {
	need := int(n) + spare
	if cap(r.old) < need && need > readSize {
		select {
		case b := <-buffers:
			r.old = b
		default:
		}
	}
	if cap(r.old) < need {
		r.old = make([]byte, 0, need)
	}
	return r.old[:0]
}

// keep moves the dictionary behind raw, which stands in r.now.
func (r *Reader) keep(raw []byte) {
	switch {
	case r.i == r.n: // nothing needs it
		r.before = nil
	case len(raw) >= MaxDict:
		r.before = raw[len(raw)-MaxDict:]
	default:
		before := r.before[max(0, len(r.before)+len(raw)-MaxDict):]
		if need := len(before) + len(raw); cap(r.dict) < need {
			r.dict = make([]byte, 0, min(MaxDict, max(need, 2*cap(r.dict))))
		}
		n := copy(r.dict[:len(before)], before) // which may be the end of r.dict itself
		r.dict = append(r.dict[:n], raw...)
		r.before = r.dict
	}
}

// release hands long buffers on, when all was read.
func (r *Reader) release() {
	for _, b := range [][]byte{r.now, r.old} {
		if cap(b) < MaxSegment {
			continue
		}
		select {
		case buffers <- b[:0]:
		default:
		}
	}
	r.now, r.old, r.dict, r.before, r.rest = nil, nil, nil, nil, nil
}

// decoders holds idle decoders: making one takes as long as a short segment.
var decoders = make(chan *zstd.Decoder, 8)

func decoder() (*zstd.Decoder, error) {
	select {
	case d := <-decoders:
		return d, nil
	default:
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxSegment), zstd.WithDecoderMaxWindow(window))
	}
}

// decode appends the content of a segment to room.
func decode(h Head, frame, dict, room []byte) ([]byte, error) {
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	if len(dict) > 0 {
		if err := d.ResetWithOptions(nil, zstd.WithDecoderDictRaw(0, dict)); err != nil {
			return nil, err
		}
	}
	raw, err := d.DecodeAll(frame, room)
	if err != nil {
		return nil, err // what the decoder is left with is not worth knowing
	}
	if len(dict) > 0 {
		if err := d.ResetWithOptions(nil, zstd.WithDecoderDictDelete()); err != nil {
			return nil, err
		}
	}
	select {
	case decoders <- d:
	default:
		d.Close()
	}
	if int64(len(raw)) != h.Length {
		return nil, fmt.Errorf("%d bytes, want %d", len(raw), h.Length)
	}
	return raw, nil
}
