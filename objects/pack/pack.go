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
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
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
type ID = plumbing.Hash

// ParseID reads the 40 hexadecimal digits that [ID.String] writes.
func ParseID(s string) (ID, error) {
	if !plumbing.IsHash(s) {
		return ID{}, fmt.Errorf("object name %.60q: want 40 hexadecimal digits", s)
	}
	return plumbing.NewHash(s), nil
}

// Compare orders names by their bytes.
func Compare(a, b ID) int { return bytes.Compare(a[:], b[:]) }

// A Kind is the type of an object, as numbered in the pack format.
type Kind = plumbing.ObjectType

// The kinds of objects. We write no tags, but can read and copy them.
const (
	Commit = plumbing.CommitObject
	Tree   = plumbing.TreeObject
	Blob   = plumbing.BlobObject
	Tag    = plumbing.TagObject
)

// The kinds of pack entries that are deltas.
const (
	offsetDelta = plumbing.OFSDeltaObject
	refDelta    = plumbing.REFDeltaObject
)

// entryKind returns the kind in the first byte of a pack entry.
func entryKind(c byte) Kind { return Kind(c >> 4 & 7) }

// Name returns git's name of an object: the SHA-1 of its kind, its size and its content.
func Name(k Kind, data []byte) ID { return plumbing.ComputeHash(k, data) }
