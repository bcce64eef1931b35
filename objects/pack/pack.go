// Package pack writes and reads git's pack files. All data of the program is stored in packs.
//
// A [Writer] puts already encoded objects ([Encode]) into one pack with an index (version 2) and makes both durable
// before it returns. Objects are stored whole, never as deltas: they are compressed already, and a whole object can be
// found, checked and copied without any other. A [Dir] finds and reads objects in all packs of a directory; [Merge]
// copies small packs into one.
//
// The order of the last steps matters: pack and index are written to temporary files and synced, then the index gets
// its final name, then the pack, then the directory is synced. A reader uses a pack only if both files exist, so it
// sees a whole pack or none. Git ignores an index without a pack, while go-git fails every read if a pack has no
// index. For the same reason a pack is removed before its index.
//
// Packs are added and removed while others read. A Dir that misses an object or a file lists the directory again,
// until two listings agree. A merge makes its result durable before it removes anything, so no reader in any process
// misses an object because of it.
package pack

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// MaxSize is the size of the largest object, which is in memory as a whole. Larger content is stored in parts.
const MaxSize = 64 << 20

var (
	// ErrNotFound means that no pack contains an object of that name.
	ErrNotFound = errors.New("object not found")
	// ErrCorrupt means that stored bytes are damaged.
	ErrCorrupt = errors.New("corrupt")
	// ErrDelta means that an object is stored as a delta, which cannot be copied to another pack.
	ErrDelta = errors.New("stored as a delta")
	// ErrTooLarge means that an object is larger than [MaxSize].
	ErrTooLarge = errors.New("object is too large")
)

// An ID is git's name of an object, its SHA-1. The zero ID names nothing.
type ID [20]byte

// ParseID reads the 40 hexadecimal digits that [ID.String] writes.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		return id, fmt.Errorf("object name %.60q: want 40 hexadecimal digits", s)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("object name %q: %w", s, err)
	}
	return id, nil
}

// String returns id as 40 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// Compare orders names by their bytes.
func (id ID) Compare(o ID) int { return bytes.Compare(id[:], o[:]) }

// A Kind is the type of an object, as numbered in the pack format.
type Kind byte

// The kinds of objects. We write no tags, but can read and copy them.
const (
	Commit Kind = 1
	Tree   Kind = 2
	Blob   Kind = 3
	Tag    Kind = 4
)

// The kinds of pack entries that are deltas.
const (
	offsetDelta Kind = 6
	refDelta    Kind = 7
)

// entryKind returns the kind in the first byte of a pack entry.
func entryKind(c byte) Kind { return Kind(c >> 4 & 7) }

func (k Kind) isDelta() bool { return k == offsetDelta || k == refDelta }

// String returns git's word for k.
func (k Kind) String() string {
	switch k {
	case Commit:
		return "commit"
	case Tree:
		return "tree"
	case Blob:
		return "blob"
	case Tag:
		return "tag"
	}
	return "kind " + strconv.Itoa(int(k))
}

// Name returns git's name of an object: the SHA-1 of its kind, its size and its content.
func Name(k Kind, data []byte) (id ID) {
	h := sha1.New()
	h.Write(preamble(k, int64(len(data))))
	h.Write(data)
	h.Sum(id[:0])
	return id
}

// preamble returns the header that git hashes before the content of an object.
func preamble(k Kind, size int64) []byte {
	b := make([]byte, 0, 32)
	b = append(b, k.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	return append(b, 0)
}
