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
	blobs  Blobs
	n, i   int
	end    int64
	hash   *objects.Hasher
	now    []byte // the current segment
	old    []byte // memory of the one before, which the next one takes
	dict   []byte // memory of before, where a segment alone is too short for it
	before []byte // the last bytes before the current segment, and perhaps more
	long   bool   // before is the end of a segment, not dict
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
	r.keep()
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
	return nil
}

// spare is extra capacity after the content, with which the decoder is faster.
const spare = 64

// room returns an unused buffer for n bytes.
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
		if need > MaxSegment/4 {
			need = MaxSegment + spare // so that others can use it
		}
		r.old = make([]byte, 0, need)
	}
	return r.old[:0]
}

// keep lets before end with the current segment, as the next one needs it. What goes through dict is moved
// seldom: there is room for twice the longest dictionary.
func (r *Reader) keep() {
	raw := r.now
	if len(raw) >= MaxDict {
		r.before, r.long = raw[len(raw)-MaxDict:], true
		return
	}
	before := r.before[max(0, len(r.before)+len(raw)-MaxDict):]
	need := len(before) + len(raw)
	if cap(r.dict) < need {
		r.dict = append(longer(r.dict, need), before...)
	} else if r.long || len(r.dict)+len(raw) > cap(r.dict) {
		r.dict = r.dict[:copy(r.dict[:len(before)], before)] // which may be the end of r.dict itself
	}
	r.dict = append(r.dict, raw...)
	r.before, r.long = r.dict, false
}

// longer returns empty memory for n bytes of a dictionary and as much again, if was is all there is.
func longer(was []byte, n int) []byte {
	if n > readSize {
		select {
		case b := <-dicts:
			return b
		default:
			return make([]byte, 0, 2*MaxDict)
		}
	}
	return make([]byte, 0, max(2*n, 2*cap(was)))
}

// dicts are the memory of dictionaries that readers had, as long as they get.
var dicts = make(chan []byte, 4)

// release returns long buffers to the pool after the last read.
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
	if cap(r.dict) == 2*MaxDict {
		select {
		case dicts <- r.dict[:0]:
		default:
		}
	}
	r.now, r.old, r.dict, r.before, r.rest = nil, nil, nil, nil, nil
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

// decode appends the content of a segment to room. It never unpacks more than fits there, whatever the frames declare.
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
