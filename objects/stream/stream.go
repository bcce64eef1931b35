// Package stream stores content that only grows, such as a session's transcript, as append segments.
//
// Each growth adds only the new bytes. A [Segment] is one blob: a zstd skippable frame with the position of the bytes
// and the BLAKE3 of the stream up to their end, and a zstd frame. The raw-content dictionary (id 0) of that frame
// consists of up to [MaxDict] bytes of the stream before the segment. The hash at the end of a segment is the name of
// the content up to there, so every growth point remains an object. At every multiple of [KeyFrame] bytes a segment
// starts without a dictionary, so reading never has to go back further. There is no content-defined chunking: real
// sessions contain no duplicates that it would find, and segments take several times less space.
//
// The zstd command restores a segment: "zstd -dc -D <the bytes before it>" (see docs/formats.md).
package stream

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/memvcs/mem/objects"
)

const (
	// MaxDict is the maximum size of a dictionary: the bytes before a segment. In a long growth only the first segment has
	// one: the others contain enough repetition, and a dictionary costs time and memory.
	MaxDict = 1 << 20
	// MaxSegment is the maximum size of the content of a segment in bytes.
	MaxSegment = 4 << 20
	// MaxBlob is the maximum size of a stored segment in bytes: incompressible content and the frames around it.
	MaxBlob = MaxSegment + 64<<10
	// KeyFrame is the distance in bytes of segments without a dictionary.
	KeyFrame = 32 << 20

	skippable = 0x184D2A50 // the first magic number of a zstd skippable frame, RFC 8878 section 3.1.2
	maxHead   = 512
)

// ErrFormat means that bytes are not a segment, or that segments are not consecutive.
var ErrFormat = errors.New("not a valid segment")

// Name returns the name of the stream of a session. generation starts at 0 and increases when the session is rewritten
// before its former end.
func Name(session string, generation int) objects.Hash {
	return objects.Sum(fmt.Appendf(nil, "mem stream 1\n%s\n%d\n", session, generation))
}

// Whole returns the name of the stream that contains exactly the object h and never grows: an object too large for
// memory that is not a session.
func Whole(h objects.Hash) objects.Hash {
	return objects.Sum(fmt.Appendf(nil, "mem object stream 1\n%s\n", h))
}

// A Head describes the range of bytes of a stream in a segment.
type Head struct {
	Offset int64        `json:"o"`  // position of the first byte
	Length int64        `json:"l"`  // number of bytes
	Dict   int64        `json:"d"`  // size of the dictionary, the bytes before Offset
	Sum    objects.Hash `json:"b3"` // BLAKE3 of the stream up to their end
}

// End returns the length of the stream after the segment.
func (h Head) End() int64 { return h.Offset + h.Length }

// DictLen returns the number of bytes before off that a segment starting there needs as its dictionary.
func DictLen(off int64) int64 { return min(MaxDict, off%KeyFrame) }

// check reports whether the head is valid. The writer chooses the size of the dictionary; the format only limits it.
func (h Head) check() error {
	switch {
	case h.Offset < 0 || h.Length <= 0 || h.Length > MaxSegment:
		return fmt.Errorf("%w: %d bytes at %d", ErrFormat, h.Length, h.Offset)
	case h.Dict < 0 || h.Dict > DictLen(h.Offset):
		return fmt.Errorf("%w: dictionary of %d bytes at %d", ErrFormat, h.Dict, h.Offset)
	case h.Offset/KeyFrame != (h.End()-1)/KeyFrame:
		return fmt.Errorf("%w: %d bytes at %d cross a key frame", ErrFormat, h.Length, h.Offset)
	}
	return nil
}

// ParseHead parses the head of a segment and returns it with the zstd frame that follows.
func ParseHead(blob []byte) (Head, []byte, error) {
	var h Head
	if len(blob) < 8 || binary.LittleEndian.Uint32(blob) != skippable {
		return h, nil, fmt.Errorf("%w: no skippable frame", ErrFormat)
	}
	n := int(binary.LittleEndian.Uint32(blob[4:]))
	if n > maxHead || len(blob) < 8+n {
		return h, nil, fmt.Errorf("%w: head of %d bytes", ErrFormat, n)
	}
	if err := json.Unmarshal(blob[8:8+n], &h); err != nil {
		return h, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return h, blob[8+n:], h.check()
}

// appendHead writes the skippable frame.
func appendHead(dst []byte, h Head) []byte {
	b, err := json.Marshal(h)
	if err != nil {
		panic(err) // a Head is numbers and a hash, which always marshal
	}
	dst = binary.LittleEndian.AppendUint32(dst, skippable)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b)))
	return append(dst, b...)
}
