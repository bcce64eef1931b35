package stream

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
)

// Blobs returns the stored bytes of the i-th segment of a stream, counted from 0.
type Blobs func(i int) ([]byte, error)

// A Reader reads the first n segments of a stream. Each segment is checked against its hash before
// any of its bytes are returned, so a caller never sees wrong content; the error then wraps [objects.ErrCorrupt].
type Reader struct {
	blobs            Blobs
	n, i             int
	end              int64
	hash             *objects.Hasher
	current          []byte // the current segment
	spare            []byte // memory of the previous segment, reused for the next one
	dict             []byte // memory of history, if one segment is too short for it
	history          []byte // at least the bytes before the current segment that its dictionary may contain
	historyInSegment bool   // history is a part of a segment, not of dict
	rest             []byte // unread part of the current segment
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

// WriteTo writes the remaining content to w without a copy. w must not keep the slices that it gets.
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

// Close does nothing; a Reader has no open files.
func (r *Reader) Close() error { return nil }

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
	r.extendHistory()
	raw, err := decode(h, frame, r.history[int64(len(r.history))-h.Dict:], r.buffer(h.Length))
	if err != nil {
		return fmt.Errorf("segment %d: %w: %w", r.i, err, objects.ErrCorrupt)
	}
	r.hash.Write(raw)
	if r.hash.Sum() != h.Sum {
		return fmt.Errorf("segment %d: %w", r.i, objects.ErrCorrupt)
	}
	r.current, r.spare, r.rest = raw, r.current, raw
	r.end = h.End()
	r.i++
	return nil
}

// extraCapacity is extra capacity after the content, with which the decoder is faster.
const extraCapacity = 64

// buffer returns an unused buffer for n bytes.
func (r *Reader) buffer(n int64) []byte {
	need := int(n) + extraCapacity
	if cap(r.spare) < need && need > readSize {
		select {
		case b := <-buffers:
			r.spare = b
		default:
		}
	}
	if cap(r.spare) < need {
		if need > MaxSegment/4 {
			need = MaxSegment + extraCapacity // so that others can use it
		}
		r.spare = make([]byte, 0, need)
	}
	return r.spare[:0]
}

// extendHistory appends the current segment to history, for the next one. dict has room for twice the longest
// dictionary, so its content is seldom moved.
func (r *Reader) extendHistory() {
	raw := r.current
	if len(raw) >= MaxDict {
		r.history, r.historyInSegment = raw[len(raw)-MaxDict:], true
		return
	}
	before := r.history[max(0, len(r.history)+len(raw)-MaxDict):]
	need := len(before) + len(raw)
	if cap(r.dict) < need {
		r.dict = append(dictBuffer(r.dict, need), before...)
	} else if r.historyInSegment || len(r.dict)+len(raw) > cap(r.dict) {
		r.dict = r.dict[:copy(r.dict[:len(before)], before)] // which may be the end of r.dict itself
	}
	r.dict = append(r.dict, raw...)
	r.history, r.historyInSegment = r.dict, false
}

// dictBuffer returns an empty buffer for at least 2*n bytes of a dictionary, or twice the capacity of was.
func dictBuffer(was []byte, n int) []byte {
	if n > readSize {
		select {
		case b := <-dictBuffers:
			return b
		default:
			return make([]byte, 0, 2*MaxDict)
		}
	}
	return make([]byte, 0, max(2*n, 2*cap(was)))
}

// dictBuffers contains idle buffers for the longest dictionaries.
var dictBuffers = make(chan []byte, 4)

// release returns long buffers to the pool after the last read.
func (r *Reader) release() {
	for _, b := range [][]byte{r.current, r.spare} {
		if cap(b) < MaxSegment {
			continue
		}
		select {
		case buffers <- b[:0]:
		default:
		}
	}
	if cap(r.dict) == 2*MaxDict {
		select {
		case dictBuffers <- r.dict[:0]:
		default:
		}
	}
	r.current, r.spare, r.dict, r.history, r.rest = nil, nil, nil, nil, nil
}

// decoders contains idle decoders: creating one takes as long as decoding a short segment.
var decoders = make(chan *zstd.Decoder, 8)

func decoder() (*zstd.Decoder, error) {
	select {
	case d := <-decoders:
		return d, nil
	default:
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxSegment),
			zstd.WithDecoderMaxWindow(window),
			zstd.WithDecodeAllCapLimit(true))
	}
}

// decode appends the content of a segment to dst. It never unpacks more than the capacity of dst, whatever the frames
// declare.
func decode(h Head, frame, dict, dst []byte) ([]byte, error) {
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	if len(dict) > 0 {
		if err := d.ResetWithOptions(nil, zstd.WithDecoderDictRaw(0, dict)); err != nil {
			return nil, err
		}
	}
	raw, err := d.DecodeAll(frame, dst)
	if err != nil {
		return nil, err // the error of the decoder is the cause
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
