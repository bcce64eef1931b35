// Package transcript reads the session files that Claude Code writes, whatever state they are in.
//
// A session file is a stream of JSON objects, nearly always one a line. Nearly: two objects may
// share a line, a crash leaves a torn line, a restore leaves no final newline, and a line may hold
// NUL or bytes that are no UTF-8. The reader therefore splits bytes into [Value]s by three rules:
//
//   - A value never spans lines. A complete JSON object (as [encoding/json.Valid] means it, nested at most
//     [MaxDepth] deep) is a value as soon as its closing brace is there.
//   - Everything else on a line, from its first byte that is no white space, is one opaque value, closed by its
//     '\n'. So are bare scalars, arrays, torn objects, garbage.
//   - An object glued behind a torn one or behind garbage is still found if it is complete and is followed by
//     the end of the line or by another object; the part before it is an opaque value, closed with it.
//
// Message n of a session is its n-th value, counted from 1, opaque ones included. The rules look at nothing
// before a value and at nothing behind the byte that closes it, so numbers never change when a file grows:
// [Closed] only ever grows, and what lies before it keeps its meaning. What is not closed yet is the tail.
//
// [Values] walks a file in memory and [Decode] gives what a record says. [Scanner] is the one cheap pass over a
// file of any size that capture needs, and [Cwd] a look at its start. [Typed] tells the words of the user from
// those of the client, [Queue] follows what was typed while the model worked, and [Read] yields what a model
// would read, which is what is counted as tokens. The format is internal to Claude Code and changes: an unknown
// type is no error, it is a [Message] with little in it.
package transcript

import (
	"io"
	"iter"
)

// MaxDepth is how deep the arrays and objects of a value may nest. What nests deeper is opaque.
const MaxDepth = 512

// A Value is one top-level piece of a session file.
type Value struct {
	N      int    // from 1
	Off    int64  // where it starts in the file
	Size   int64  // in bytes
	Raw    []byte // the bytes themselves, a slice of what was split; [Stream] cuts them off at its limit
	Opaque bool   // it is no JSON object
}

// Values yields the values of b in file order. Nothing is lost: the Raw of all values and the white space
// between them are b. A tail that is not closed counts as if its line ended at the end of b.
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

// Stream is [Values] for a file that is too large to hold: it reads r and yields the same values, but of a value that
// is larger than limit only the first limit bytes are in Raw, and of an opaque value none. Raw is overwritten by the
// next step. An error of r is yielded last, behind the values that were closed before it.
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

// Whole is [Values] for a file that is too large to hold, if its values are not: it reads r and yields the same
// values with all their bytes, and holds one value at a time. Raw is overwritten by the next step. An error of
// r is yielded last, behind the values that were closed before it.
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

// A keeper keeps what was read until it is dropped.
type keeper struct {
	r   io.Reader
	buf []byte
	at  int64 // where buf begins
}

func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	k.buf = append(k.buf, p[:n]...)
	return n, err
}

// from returns what was read from off on.
func (k *keeper) from(off int64) []byte { return k.buf[off-k.at:] }

// drop lets go of what was read before off. It moves the rest once that is the smaller part.
func (k *keeper) drop(off int64) {
	if n := off - k.at; n > int64(len(k.buf))/2 {
		k.buf, k.at = k.buf[:copy(k.buf, k.buf[n:])], off
	}
}

// Closed returns the length of b without its tail, the last value if that is not closed yet. White space
// behind a closed value is closed with it.
func Closed(b []byte) int {
	s := splitter{}
	s.feed(b, func(piece) bool { return true })
	return int(s.closed())
}
