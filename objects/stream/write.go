package stream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
)

// window is the zstd window; a decoder needs this much memory.
const window = 4 << 20

// A Segment is one growth of a stream, ready to be stored.
type Segment struct {
	Head
	Blob []byte
}

// A Tail is the state at the end of a stream that is needed to append to it. The zero Tail with a new hasher is that
// of an empty stream.
type Tail struct {
	Length int64
	Dict   []byte          // the last bytes before Length, [DictLen] of them or more
	Hash   *objects.Hasher // of everything before Length; Append continues it
	Final  bool            // nothing is appended later: Append leaves Dict empty at the end
}

// Append reads content from r until its end and yields, in order, the segments that append it to the stream that ends
// in t. One segment is in memory at a time. When it has finished, t describes the longer stream. The caller owns the
// blobs of the segments.
func Append(ctx context.Context, t *Tail, r io.Reader) iter.Seq2[Segment, error] {
	return func(yield func(Segment, error) bool) {
		a := &appender{t: t, r: r}
		for !a.eof {
			err := ctx.Err()
			if err == nil {
				err = a.read()
			}
			if err == nil && a.raw.Len() == 0 {
				break
			}
			var s Segment
			if err == nil {
				s, err = a.segment()
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
		if t.Final {
			t.Dict = nil
		}
	}
}

type appender struct {
	t     *Tail
	r     io.Reader
	eof   bool
	raw   bytes.Buffer  // the content of the next segment
	bulk  bool          // the segment before was a whole one
	plain *zstd.Encoder // without a dictionary; nil before its first use
}

// read reads the content of the next segment. The segments of a long growth are aligned.
func (a *appender) read() error {
	size := MaxSegment - a.t.Length%MaxSegment
	a.raw.Reset()
	n, err := io.Copy(&a.raw, io.LimitReader(a.r, size))
	a.eof = n < size
	return err
}

// segment makes a segment of the content, and moves the tail behind it.
func (a *appender) segment() (Segment, error) {
	t, raw := a.t, a.raw.Bytes()
	h := Head{Offset: t.Length, Length: int64(len(raw))}
	if !a.bulk {
		h.Dict = DictLen(t.Length)
	}
	if int64(len(t.Dict)) < h.Dict {
		return Segment{}, fmt.Errorf("append at %d: dictionary of %d bytes, want %d", t.Length, len(t.Dict), h.Dict)
	}
	e, err := a.encoder(h)
	if err != nil {
		return Segment{}, fmt.Errorf("compress segment at %d: %w", h.Offset, err)
	}
	frame := e.EncodeAll(raw, make([]byte, maxHead, maxHead+len(raw)/5))
	t.Hash.Write(raw)
	h.Sum = t.Hash.Sum()
	t.Length += h.Length
	a.bulk = h.Length == MaxSegment
	old := t.Dict[max(0, len(t.Dict)-max(0, MaxDict-len(raw))):]
	t.Dict = append(bytes.Clone(old), raw[max(0, len(raw)-MaxDict):]...)
	head := appendHead(nil, h)
	blob := frame[maxHead-len(head):]
	copy(blob, head)
	return Segment{h, blob}, nil
}

// encoder returns an encoder for a segment. Most segments with a dictionary are short tails: there are many, and each
// takes little time. The window is the smallest one for the segment and its dictionary, because an encoder allocates and
// clears it.
func (a *appender) encoder(h Head) (e *zstd.Encoder, err error) {
	if h.Dict == 0 {
		if a.plain == nil {
			a.plain, err = newEncoder(window, zstd.SpeedDefault)
		}
		return a.plain, err
	}
	level := zstd.SpeedDefault
	if h.Length < shortTail {
		level = zstd.SpeedBetterCompression
	}
	size := zstd.MinWindowSize
	for int64(size) < h.Dict+h.Length && size < window {
		size *= 2
	}
	return newEncoder(size, level, zstd.WithEncoderDictRaw(0, a.t.Dict[int64(len(a.t.Dict))-h.Dict:]))
}

const shortTail = 1 << 20

func newEncoder(window int, level zstd.EncoderLevel, more ...zstd.EOption) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, append([]zstd.EOption{
		zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true),
	}, more...)...)
}
