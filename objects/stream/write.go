package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
)

// window is the zstd window; a decoder needs this much memory.
const window = 4 << 20

// A Segment is one growth of a stream, ready to be stored.
type Segment struct {
	Head
	Blob []byte
	room []byte // what Blob is part of
}

// Release returns the memory of the blob for reuse. Calling it is optional.
func (s Segment) Release() {
	select {
	case blobs <- s.room[:0]:
	default:
	}
}

// A Tail is the state at the end of a stream that is needed to append to it. The zero Tail with a new hasher is that
// of an empty stream.
type Tail struct {
	Length int64
	Dict   []byte          // the last bytes before Length, [DictLen] of them or more
	Hash   *objects.Hasher // of everything before Length; Append continues it
	Final  bool            // nothing is appended later: Append leaves Dict empty at the end
	// about how many bytes come now, 0 if that is not known: the compressor is made ready while they are read
	Expect int64

	// Before, if it is set, is called once before Hash is used for the first time. What came before may still be on its
	// way into Hash while the first segment is compressed. Append yields nothing before it, and its error.
	Before func() error
}

// DictLen returns the number of bytes before off that a segment starting there needs as its dictionary.
func DictLen(off int64) int64 { return dictLen(off) }

// NewDict returns a buffer for the dictionary of a growth that starts at off, which the caller fills. It has extra
// capacity for about n bytes: Append reads the content into it instead of copying the dictionary.
func NewDict(off, n int64) []byte {
	d := dictLen(off)
	return make([]byte, d, d+min(n+n/8, MaxSegment)+readSize)
}

// Append reads content from r until its end and yields, in order, the segments that append it to the stream that ends
// in t. At most two segments are in memory at once. When it has finished, t describes the longer stream. The caller
// owns the blobs of the segments.
func Append(ctx context.Context, t *Tail, r io.Reader) iter.Seq2[Segment, error] {
	return func(yield func(Segment, error) bool) {
		a := &appender{t: t, r: r, end: t.Length + t.Expect, ready: prepare(t)}
		defer a.release()
		if err := a.run(ctx, yield); err != nil && !errors.Is(err, errStopped) {
			yield(Segment{}, err)
		}
	}
}

var (
	errStopped = errors.New("the receiver stopped")
	workers    = min(2, runtime.GOMAXPROCS(0))
)

// A job is a segment on its way: done receives a value once it is compressed.
type job struct {
	buf  []byte // dictionary and content
	lent bool   // buf is the memory of the first dictionary
	head Head
	blob []byte // the frame behind room for a head
	done chan error
}

type appender struct {
	t     *Tail
	owned bool // whether the dictionary of t was made here
	bulk  bool // the segment before was a whole one
	r     io.Reader
	end   int64     // about where the stream will end; at most t.Length if that is not known
	free  [][]byte  // buffers for the next segments; the last one was used last
	ready *prepared // for the first segment, nil if nothing was prepared
}

func (a *appender) run(ctx context.Context, yield func(Segment, error) bool) error {
	var queue []*job
	pop := func() error {
		j := queue[0]
		queue = queue[1:]
		err := <-j.done
		a.back(j)
		if err != nil {
			return err
		}
		if !yield(j.segment(), nil) {
			return errStopped
		}
		return nil
	}
	defer func() {
		for _, j := range queue {
			<-j.done
			a.back(j)
		}
	}()
	for eof := false; !eof; {
		if err := ctx.Err(); err != nil {
			return err
		}
		j, err := a.next()
		if err != nil && err != io.EOF {
			return err
		}
		eof = err == io.EOF
		if j != nil {
			go j.compress(j.head, a.ready) // a copy: the hash comes into j.head meanwhile
			a.ready = nil
			queue = append(queue, j)
			if err := a.hash(j); err != nil {
				return err
			}
		}
		if len(queue) == workers {
			if err := pop(); err != nil {
				return err
			}
		}
	}
	for len(queue) > 0 {
		if err := pop(); err != nil {
			return err
		}
	}
	return a.before()
}

// buffers are shared by all that append in this program: as many as two of them need. A pool of package sync would
// drop them, and the pages under new ones cost more than what is done with them.
var (
	buffers = make(chan []byte, 6)
	blobs   = make(chan []byte, 6)
)

// buffer returns a free buffer. Those of short content grow as they are needed; those that have grown are
// used again.
func (a *appender) buffer() []byte {
	if last := len(a.free) - 1; last >= 0 {
		b := a.free[last]
		a.free = a.free[:last]
		return b
	}
	select {
	case b := <-buffers:
		return b
	default:
		return nil
	}
}

// release hands the buffers on, when all work is done.
func (a *appender) release() {
	for _, b := range a.free {
		select {
		case buffers <- b:
		default:
		}
	}
}

// next reads the content of the next segment and moves the tail behind it. It returns io.EOF with the
// last one, which is nil if there was nothing left.
func (a *appender) next() (*job, error) {
	t := a.t
	d := dictLen(t.Length)
	if a.bulk {
		d = 0
	}
	size := MaxSegment - t.Length%MaxSegment // so that those of a long growth are aligned
	if int64(len(t.Dict)) < d {
		return nil, fmt.Errorf("append at %d: dictionary of %d bytes, want %d", t.Length, len(t.Dict), d)
	}
	buf, lent := t.Dict[int64(len(t.Dict))-d:], a.lent(d)
	if !lent {
		b := a.buffer()[:0]
		if want := d + min(size, a.end-t.Length+readSize); a.end > t.Length && int64(cap(b)) < want {
			b = make([]byte, 0, want)
		}
		buf = append(b, buf...)
	}
	buf, err := fill(buf, a.r, size)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	n := int64(len(buf)) - d
	if n == 0 || err != nil && err != io.EOF {
		a.back(&job{buf: buf, lent: lent})
		return nil, err
	}
	j := &job{buf: buf, lent: lent, done: make(chan error, 1)}
	j.head = Head{Offset: t.Length, Length: n, Dict: d}
	t.Length += n
	a.bulk = n == MaxSegment
	a.keep(buf[d:], err == io.EOF)
	return j, err
}

// lent reports whether the dictionary of a segment, d bytes long, has room behind it that the caller made for
// the segment.
func (a *appender) lent(d int64) bool {
	return d > 0 && !a.owned && a.t.Expect > 0 && int64(cap(a.t.Dict)-len(a.t.Dict)) > a.t.Expect
}

// back takes the buffer of j for reuse, unless the caller made it: the hasher of the earlier content may still read it.
func (a *appender) back(j *job) {
	if !j.lent {
		a.free = append(a.free, j.buf)
	}
}

// hash names the stream up to the end of j's segment, while that is compressed.
func (a *appender) hash(j *job) error {
	if err := a.before(); err != nil {
		return err
	}
	a.t.Hash.Write(j.buf[j.head.Dict:])
	j.head.Sum = a.t.Hash.Sum()
	return nil
}

// before waits until what came before the content is in the hash.
func (a *appender) before() error {
	before := a.t.Before
	if before == nil {
		return nil
	}
	a.t.Before = nil
	return before()
}

// keep moves the dictionary behind raw, which is the last of the content if eof is set. It uses the memory that the
// dictionary has where that was made here.
func (a *appender) keep(raw []byte, eof bool) {
	t := a.t
	switch {
	case t.Final && (eof || a.bulk):
		t.Dict = nil
	case a.owned && len(raw) >= MaxDict:
		t.Dict = append(t.Dict[:0], raw[len(raw)-MaxDict:]...)
	default:
		t.Dict, a.owned = keep(t.Dict, raw, MaxDict), true
	}
}

// keep returns the last n bytes of old and raw together, or all there are.
func keep(old, raw []byte, n int) []byte {
	old = old[max(0, len(old)-max(0, n-len(raw))):]
	raw = raw[max(0, len(raw)-n):]
	return append(append(make([]byte, 0, len(old)+len(raw)), old...), raw...)
}

// readSize is how much is read at once: what reads along finds it in the processor's cache.
const readSize = 256 << 10

// fill appends up to size bytes of r to buf, growing it as they come. It returns io.EOF or
// io.ErrUnexpectedEOF at the end of r.
func fill(buf []byte, r io.Reader, size int64) ([]byte, error) {
	end := len(buf) + int(size)
	for len(buf) < end {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(max(4*cap(buf), readSize), end))
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), end, len(buf)+readSize)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// compress fills the blob; the head, which has the hash, comes later.
func (j *job) compress(head Head, ready *prepared) {
	raw := j.buf[head.Dict:]
	blob := room(len(raw)/5 + maxHead)[:maxHead]
	if head.Dict == 0 {
		e := plainEncoder()
		j.blob = e.EncodeAll(raw, blob)
		select {
		case plain <- e:
		default:
		}
		j.done <- nil
		return
	}
	e, err := ready.encoder(head, j.buf[:head.Dict])
	if err != nil {
		j.done <- fmt.Errorf("compress segment at %d: %w", head.Offset, err)
		return
	}
	j.blob = e.EncodeAll(raw, blob)
	j.done <- nil
}

// segment returns the finished segment.
func (j *job) segment() Segment {
	head := appendHead(nil, j.head)
	blob := j.blob[maxHead-len(head):]
	copy(blob, head)
	return Segment{j.head, blob, j.blob}
}

// room returns memory for about n bytes. That of long segments is used again.
func room(n int) []byte {
	select {
	case b := <-blobs:
		if cap(b) >= maxHead {
			return b
		}
	default:
	}
	return make([]byte, 0, n)
}

// plain holds encoders without a dictionary, which can be used again: no pool of package sync, for the same reason.
var plain = make(chan *zstd.Encoder, 4)

func plainEncoder() *zstd.Encoder {
	select {
	case e := <-plain:
		return e
	default:
	}
	e, err := newEncoder()
	if err != nil {
		panic(err) // the options are constants and are right
	}
	return e
}

func newEncoder(more ...zstd.EOption) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, append([]zstd.EOption{
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true),
	}, more...)...)
}
