// Package transcript parses the session files of Claude Code, complete or damaged.
//
// A session file is a stream of JSON objects, usually one per line. But two objects may share a line, a crash leaves a
// torn line, a restored file has no final newline, and a line may contain NUL or invalid UTF-8. The package splits a
// file into [Value]s by three rules:
//
//   - A value never spans lines. A complete JSON object (valid by [encoding/json.Valid] and nested at most
//     [MaxDepth] deep) is a value as soon as its closing brace is read.
//   - Everything else on a line, from its first byte that is not white space, is one opaque value, which the
//     line end closes: bare scalars, arrays, torn objects, garbage.
//   - An object after a torn one or after garbage is a value of its own if it is complete and followed by the
//     end of the line or by another object. The part before it is an opaque value, closed at the same time.
//
// Message n of a session is its n-th value, counted from 1, including opaque values. A value does not depend on the
// bytes before it or after the byte that closes it, so message numbers never change when a file grows: [Closed] only
// increases. The bytes that are not closed yet are the tail.
//
// [Values] splits a file in memory and [Decode] decodes a record. [Scanner] collects what capture needs in one pass
// over a file of any size, and [Cwd] reads only its start. [Typed] separates the user's words from those of the
// client, [Queue] tracks what the user typed while the model worked, and [Read] yields what a model reads, which is
// counted as tokens. The format is internal to Claude Code and changes: an unknown type is not an error but a
// [Message] with few fields.
package transcript

import (
	"io"
	"iter"
)

// MaxDepth is the maximum nesting of arrays and objects in a value. A deeper object is opaque.
const MaxDepth = 512

// A Value is one top-level element of a session file.
type Value struct {
	N      int    // its number, from 1
	Off    int64  // its offset in the file
	Size   int64  // in bytes
	Raw    []byte // its bytes, a slice of the input; [Stream] truncates them at its limit
	Opaque bool   // it is not a JSON object
}

// Values yields the values of b in file order. The Raw of all values and the white space between them are b. A tail
// that is not closed is treated as if its line ended at the end of b.
func Values(b []byte) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		s := splitter{}
		n := 0
		stopped := false
		emit := func(p piece) bool {
			n++
			stopped = !yield(Value{N: n, Off: p.start, Size: p.end - p.start, Raw: b[p.start:p.end], Opaque: p.opaque})
			return !stopped
		}
		s.feed(b, emit)
		if !stopped {
			s.finish(emit)
		}
	}
}

// Stream is [Values] for a file that does not fit into memory. It yields the same values, but Raw has only the first
// limit bytes of an object, and is empty for an opaque value. Raw is valid until the next iteration. A read error is
// yielded last, after the values closed before it.
func Stream(r io.Reader, limit int) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		h := head{limit: limit}
		n := 0
		var chunk []byte
		emit := func(p piece) bool {
			n++
			v := Value{N: n, Off: p.start, Size: p.end - p.start, Opaque: p.opaque}
			if !p.opaque {
				v.Raw = h.raw(p, chunk)
			}
			return yield(v, nil)
		}
		buf := make([]byte, 256<<10)
		for {
			k, err := r.Read(buf)
			chunk = buf[:k]
			if !h.feed(chunk, emit) {
				return
			}
			if err == io.EOF {
				h.base, chunk = h.s.off, nil
				h.s.finish(emit)
				return
			}
			if err != nil {
				yield(Value{}, err)
				return
			}
		}
	}
}

// Whole is [Values] for a file that does not fit into memory although each of its values does: it yields the same
// values with all their bytes. Raw is valid until the next iteration. A read error is yielded last, after the values
// closed before it.
func Whole(r io.Reader) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		k := &keeper{r: r}
		for v, err := range Stream(k, 1) {
			if err == nil {
				v.Raw = k.from(v.Off)[:v.Size]
			}
			if !yield(v, err) {
				return
			}
			k.drop(v.Off + v.Size)
		}
	}
}

// A keeper buffers the bytes read from r until they are dropped.
type keeper struct {
	r   io.Reader
	buf []byte
	at  int64 // the offset of buf
}

func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	k.buf = append(k.buf, p[:n]...)
	return n, err
}

// from returns the bytes read from off on.
func (k *keeper) from(off int64) []byte { return k.buf[off-k.at:] }

// drop releases the bytes before off. It moves the rest once that is smaller than the released part.
func (k *keeper) drop(off int64) {
	if n := off - k.at; n > int64(len(k.buf))/2 {
		k.buf, k.at = k.buf[:copy(k.buf, k.buf[n:])], off
	}
}

// Closed returns the length of b without its tail, which is the last value if it is not closed. White space after a
// closed value is closed with it.
func Closed(b []byte) int {
	s := splitter{}
	s.feed(b, func(piece) bool { return true })
	return int(s.closed())
}
