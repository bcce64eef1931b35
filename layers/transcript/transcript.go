// Package transcript parses the session files of Claude Code, complete or damaged, and those of other agents ([Agent]).
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
	"bytes"
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
	Raw    []byte // its bytes; [Stream] truncates them at its limit
	Opaque bool   // it is not a JSON object
}

// Values yields the values of b in file order. The Raw of all values and the white space between them are b. A tail
// that is not closed is treated as if its line ended at the end of b.
func Values(b []byte) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		s, n := splitter{}, 0
		emit := func(p piece) bool {
			n++
			size := int64(len(p.raw))
			return yield(Value{N: n, Off: p.off, Size: size, Raw: b[p.off : p.off+size], Opaque: p.opaque})
		}
		if s.feed(b, emit) {
			s.close(true, emit)
		}
	}
}

// cut reports whether Raw is only the beginning of an object.
func (v Value) cut() bool { return int64(len(v.Raw)) < v.Size }

// Stream is [Whole] with the first limit bytes of an object, and nothing of an opaque value, in Raw.
func Stream(r io.Reader, limit int) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		for v, err := range Whole(r) {
			if v.Raw = v.Raw[:min(len(v.Raw), limit)]; v.Opaque {
				v.Raw = nil
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// Whole is [Values] for a file that does not fit into memory although each of its lines does. Raw is valid until the next
// iteration. A read error is yielded last, after the values of the lines before it.
func Whole(r io.Reader) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		s, n, stopped := splitter{}, 0, false
		emit := func(p piece) bool {
			n++
			stopped = !yield(Value{N: n, Off: p.off, Size: int64(len(p.raw)), Raw: p.raw, Opaque: p.opaque}, nil)
			return !stopped
		}
		buf := make([]byte, 8<<10) // most files are short
		for {
			k, err := r.Read(buf)
			if !s.feed(buf[:k], emit) {
				return
			}
			if k == len(buf) && k < 256<<10 {
				buf = make([]byte, 2*k)
			}
			if err == io.EOF {
				s.close(true, emit)
				return
			}
			if err != nil {
				if s.close(false, emit); !stopped {
					yield(Value{}, err)
				}
				return
			}
		}
	}
}

// Closed returns the length of b without its tail, which is the last value if it is not closed. White space after a
// closed value is closed with it.
func Closed(b []byte) int {
	line := bytes.LastIndexByte(b, '\n') + 1
	n, _ := splitLine(b[line:], false, func(int, []byte, bool) bool { return true })
	return line + n
}
